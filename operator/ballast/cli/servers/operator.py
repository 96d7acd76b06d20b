"""``ballast operator``: one replica of the Kubernetes operator, until SIGINT or SIGTERM."""

import json
import logging
import os
import random
import sys
import threading
from collections.abc import Mapping, Sequence
from typing import Any, Final, NoReturn

import uvloop

from ballast.brokersets.spec.spec import PodDefaults
from ballast.cli.clock import LoopClock, wall_clock_ms
from ballast.cli.servers.long_running import (
    EXIT_BAD_CONFIGURATION,
    EXIT_FAILED,
    collect_seldom,
    stop_signals,
)
from ballast.kube.api.credentials import login
from ballast.kube.api.errors import NoCredentials
from ballast.kube.api.leader_election import LeaseTiming
from ballast.kube.api.resources import BROKER_SETS, PARTITION_REASSIGNMENTS
from ballast.kube.broker_sets import reconciler as broker_sets
from ballast.kube.process import Machinery, OperatorProcess
from ballast.kube.reassignments import reconciler as reassignments
from ballast.kube.runtime.context import ClosableAdmin
from ballast.kube.runtime.logs import ObjectFields
from ballast.kube.runtime.options import OperatorOptions
from ballast.net.admin.admin import AdminClient
from ballast.net.admin.cluster_connections import AdminOptions, parse_bootstrap_servers
from ballast.net.logs import log_to
from ballast.reassign.generate.spark_application import SparkSettings
from ballast.zk.client import ClientFactory
from ballast.zk.kazoo_adapter.client import KazooZooKeeperClient

log = logging.getLogger(__name__)

LINGER_S: Final = 1.0
"""How long the process may take to end once everything is done."""

_ADMIN_OPTIONS = AdminOptions(
    client_id="ballast-operator", request_timeout_s=10.0, connect_timeout_s=3.0, call_timeout_s=20.0
)


def main(
    *,
    namespaces: Sequence[str],
    lease: tuple[float, float, float],
    spark: Mapping[str, Any] | None = None,
    broker_pods: str = "",
    controller_ports: str = "",
    **settings: object,
) -> int:
    """Run the operator: 0 after a stop, 1 after a failure, 2 when it is not configured.

    ``lease`` is duration, renew deadline and retry in seconds, ``spark`` the fields of
    `SparkSettings`, its ``pod`` as JSON, ``broker_pods`` what brokers' pods are given, as JSON,
    ``controller_ports`` the first and the last (``9500-9599``), ``settings`` the other fields of
    `OperatorOptions`. It ends at once with 3 when the Lease is lost and what needs it does not
    stop in time.
    """
    try:
        made = {
            "spark": SparkSettings(**{**(spark or {}), "pod": _object((spark or {}).get("pod"))}),
            "broker_pods": pod_defaults(broker_pods),
            "controller_ports": ports_of(controller_ports),
        }
        options = options_of(namespaces, lease, {**settings, **made})
    except ValueError as error:
        print(f"ballast operator: {error}", file=sys.stderr)
        return EXIT_BAD_CONFIGURATION
    log_to(sys.stderr)
    collect_seldom()
    for handler in logging.getLogger().handlers:
        handler.addFilter(ObjectFields())
    for name in ("kopf", "kazoo", "asyncio"):
        logging.getLogger(name).setLevel(logging.WARNING)
    # kopf warns that signals are not its own: they are the main thread's, on purpose.
    logging.getLogger("kopf._core.reactor.running").setLevel(logging.ERROR)
    try:
        uvloop.run(_run(options))
    except NoCredentials as error:
        print(f"ballast operator: {error}", file=sys.stderr)
        return EXIT_BAD_CONFIGURATION
    except Exception:
        log.exception("the process ends because of an error")
        return EXIT_FAILED
    return 0


def options_of(
    namespaces: Sequence[str], lease: tuple[float, float, float], settings: dict[str, object]
) -> OperatorOptions:
    """Return the options; raises `ValueError` that says what is wrong."""
    duration_s, renew_deadline_s, retry_s = lease
    names = [name.strip() for text in namespaces for name in text.split(",")]
    return OperatorOptions(
        namespaces=tuple(dict.fromkeys(name for name in names if name)),
        lease=LeaseTiming(
            duration_s=duration_s, renew_deadline_s=renew_deadline_s, retry_s=retry_s
        ),
        **settings,  # type: ignore[arg-type]  # checked by the command line
    )


def pod_defaults(text: str) -> PodDefaults:
    """Return what brokers' pods are given, from JSON; raises `ValueError`."""
    given = _object(text)
    known = {"imagePullSecrets", "imagePullPolicy", "securityContext"}
    if unknown := sorted(given.keys() - known):
        raise ValueError(f"--broker-pods: {unknown[0]} is none of {', '.join(sorted(known))}")
    return PodDefaults(
        image_pull_secrets=tuple(str(name) for name in given.get("imagePullSecrets", ())),
        image_pull_policy=given.get("imagePullPolicy", "IfNotPresent"),
        security_context=given.get("securityContext"),
    )


def _object(text: str | None) -> dict[str, Any]:
    """Return the object of a JSON text, an empty one of none; raises `ValueError`."""
    value = json.loads(text) if text else {}
    if isinstance(value, dict):
        return value
    raise ValueError(f"{text!r} is no JSON object")


def ports_of(text: str) -> range:
    """Return the ports of ``9500-9599``; raises `ValueError`."""
    if not text:
        return range(0)
    first, _, last = text.partition("-")
    ports = range(int(first), int(last or first) + 1)
    if not ports or not 0 < ports[0] <= ports[-1] < 2**16:
        raise ValueError(f"{text!r} are no ports such as 9500-9599")
    return ports


async def _run(options: OperatorOptions) -> None:
    machinery = Machinery(
        login=login,
        clock=LoopClock(wall_clock_ms),
        loop_factory=uvloop.new_event_loop,
        random=random.Random(),  # noqa: S311 - places replicas and makes topic ids, no secrets
        admin_for=_admin_for,
        zookeeper_for=_zookeeper_for,
        tend={PARTITION_REASSIGNMENTS: reassignments.tend, BROKER_SETS: broker_sets.tend},
        exit_at_once=_exit_at_once,
    )
    try:
        await OperatorProcess(options, machinery).run(stop_signals())
    except NoCredentials:
        raise  # Nothing was begun.
    except BaseException:
        _end_soon(EXIT_FAILED)
        raise
    _end_soon(0)


def _end_soon(code: int) -> None:
    """Let the process end, even if a thread is still looking up a name, which may take minutes."""
    timer = threading.Timer(LINGER_S, _exit_at_once, (code,))
    timer.daemon = True
    timer.start()


def _admin_for(bootstrap_servers: str) -> ClosableAdmin:
    return AdminClient(parse_bootstrap_servers(bootstrap_servers), _ADMIN_OPTIONS)


def _zookeeper_for(connect: str, session_timeout_s: float) -> ClientFactory:
    return lambda: KazooZooKeeperClient(connect, session_timeout_s=session_timeout_s)


def _exit_at_once(code: int) -> NoReturn:
    logging.shutdown()
    os._exit(code)
