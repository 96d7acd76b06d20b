"""``ballast uninstall``: what the chart runs before and after the operator is uninstalled."""

import asyncio
import os
import sys
from collections.abc import Sequence

from ballast.cli.clock import LoopClock, wall_clock_ms
from ballast.cli.servers.long_running import EXIT_BAD_CONFIGURATION, EXIT_FAILED
from ballast.kube.api.client import KubernetesClient
from ballast.kube.api.credentials import login
from ballast.kube.api.errors import KubernetesError
from ballast.kube.api.ports import KubernetesApi
from ballast.kube.uninstall import (
    OperatorPods,
    moves_under_way,
    remove_finalizers,
    wait_for_end,
)
from ballast.net.logs import log_to
from ballast.reassign.ports import Clock


def main(
    *, namespaces: Sequence[str | None], operator_labels: str | None, is_check: bool = False
) -> int:
    """Take finalizers off: 0 when none is left, 1 after a failure, 2 without a namespace.

    The operator's pods are looked for in POD_NAMESPACE. With ``is_check`` nothing is changed: 0
    when no reassignment moves partitions, else 1.
    """
    if not namespaces:
        print("ballast uninstall: name a namespace, or --all-namespaces", file=sys.stderr)
        return EXIT_BAD_CONFIGURATION
    pods = None
    if operator_labels is not None:
        pods = OperatorPods(namespace=os.environ["POD_NAMESPACE"], labels=operator_labels)
    log_to(sys.stderr)

    async def connected() -> int:
        clock = LoopClock(wall_clock_ms)
        async with KubernetesClient.opened(login, clock) as api:
            if is_check:
                return await check(api, namespaces)
            return await uninstall(api, clock, namespaces, pods)

    try:
        return asyncio.run(connected())
    except KubernetesError as error:
        print(f"ballast uninstall: {error}", file=sys.stderr)
        return EXIT_FAILED


async def check(api: KubernetesApi, namespaces: Sequence[str | None]) -> int:
    """Print the reassignments that move partitions; return the exit code."""
    moving = await moves_under_way(api, namespaces)
    for namespace, name in moving:
        print(
            f"ballast uninstall: PartitionReassignment {namespace}/{name} has begun and not ended; "
            "without the operator it never ends and its throttles stay in the cluster: "
            "wait for its end, or delete it (to keep the release: helm rollback RELEASE REVISION)",
            file=sys.stderr,
        )
    return EXIT_FAILED if moving else 0


async def uninstall(
    api: KubernetesApi, clock: Clock, namespaces: Sequence[str | None], pods: OperatorPods | None
) -> int:
    """Wait for the operator's end, then take the finalizers off; return the exit code."""
    if pods is not None and not await wait_for_end(api, clock, pods):
        print("ballast uninstall: the operator's pods still run", file=sys.stderr)
        return EXIT_FAILED
    await check(api, namespaces)
    print(f"took finalizers off {await remove_finalizers(api, namespaces)} objects")
    return 0
