"""``ballast up``: a cluster on this machine, in the foreground, until SIGINT or SIGTERM."""

import asyncio
import signal
import sys
from collections.abc import Sequence
from pathlib import Path

from ballast.commands.overrides import parse_overrides
from ballast.embedded.cluster import local_cluster
from ballast.embedded.errors import EmbeddedError
from ballast.embedded.layout import ClusterLayout


def main(
    *,
    brokers: int,
    controllers: int,
    directory: Path,
    base_port: int,
    restart: bool,
    overrides: Sequence[str],
) -> int:
    """Run until stopped; return 0 after a clean stop, 1 when the cluster could not start."""
    try:
        layout = ClusterLayout(
            directory=directory,
            brokers=brokers,
            controllers=controllers,
            base_port=base_port,
            overrides=parse_overrides(overrides),
        )
        asyncio.run(_up(layout, restart=restart))
    except (EmbeddedError, ValueError) as error:
        print(f"ballast up: {error}", file=sys.stderr)
        return 1
    return 0


async def _up(layout: ClusterLayout, *, restart: bool) -> None:
    task = asyncio.current_task()
    assert task is not None, "a coroutine runs in a task"
    for number in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(number, task.cancel)
    async with local_cluster(layout, restart=restart, report=_say) as cluster:
        try:
            await cluster.start()
            _say(f"bootstrap.servers={layout.bootstrap_servers}")
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            # A second signal interrupts the stop: what is left is killed then.
            task.uncancel()
        _say("stopping")
        await cluster.stop()


def _say(line: str) -> None:
    print(line, flush=True)
