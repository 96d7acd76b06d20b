"""``ballast operator``: one replica of the Kubernetes operator, until SIGINT or SIGTERM."""

import json
import logging
import os
import random
import sys
import threading
from collections.abc import Sequence
from dataclasses import dataclass
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


@dataclass(frozen=True, slots=True, kw_only=True)
class OperatorArguments:
    """The values of the command line, as text where their form is checked here."""

    broker_image: str
    pod_name: str
    pod_namespace: str
    pod_ip: str
    namespaces: Sequence[str] = ()
    """Each may hold several names, separated by commas."""
    broker_pods: str = ""
    """A JSON object; see `pod_defaults`."""
    cluster_domain: str = "cluster.local"
    controller_ports: str = ""
    """The first and the last port: ``9500-9599``."""
    http_port: int = 8080
    is_watching_nodes: bool = True
    lease_name: str = "ballast-operator"
    lease_duration_s: float = 15.0
    lease_renew_deadline_s: float = 10.0
    lease_retry_s: float = 2.0
    spark_image: str = ""
    spark_image_pull_policy: str = "IfNotPresent"
    spark_image_pull_secrets: tuple[str, ...] = ()
    spark_service_account: str = "ballast-spark"
    spark_pod: str = ""
    """A JSON object; see `SparkSettings.pod`."""


def main(arguments: OperatorArguments) -> int:
    """Run the operator: 0 after a stop, 1 after a failure, 2 when the configuration is wrong.

    The process ends at once with 3 when the Lease is lost and the work that needs it does not stop
    in time.
    """
    try:
        options = options_of(arguments)
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


def options_of(arguments: OperatorArguments) -> OperatorOptions:
    """Return the options; raises `ValueError` that says what is wrong."""
    names = [name.strip() for text in arguments.namespaces for name in text.split(",")]
    return OperatorOptions(
        pod_name=arguments.pod_name,
        pod_namespace=arguments.pod_namespace,
        pod_ip=arguments.pod_ip,
        namespaces=tuple(dict.fromkeys(name for name in names if name)),
        broker_image=arguments.broker_image,
        broker_pods=pod_defaults(arguments.broker_pods),
        cluster_domain=arguments.cluster_domain,
        controller_ports=ports_of(arguments.controller_ports),
        http_port=arguments.http_port,
        is_watching_nodes=arguments.is_watching_nodes,
        lease=LeaseTiming(
            duration_s=arguments.lease_duration_s,
            renew_deadline_s=arguments.lease_renew_deadline_s,
            retry_s=arguments.lease_retry_s,
        ),
        lease_name=arguments.lease_name,
        spark=SparkSettings(
            image=arguments.spark_image,
            image_pull_policy=arguments.spark_image_pull_policy,
            image_pull_secrets=arguments.spark_image_pull_secrets,
            service_account=arguments.spark_service_account,
            pod=_object(arguments.spark_pod),
        ),
    )


def pod_defaults(text: str) -> PodDefaults:
    """Return what brokers' pods are given, from JSON; raises `ValueError`."""
    given = _object(text)
    allowed = {"imagePullSecrets", "imagePullPolicy", "securityContext"}
    if unknown := sorted(given.keys() - allowed):
        raise ValueError(f"--broker-pods: {unknown[0]} is none of {', '.join(sorted(allowed))}")
    return PodDefaults(
        image_pull_secrets=tuple(str(name) for name in given.get("imagePullSecrets", ())),
        image_pull_policy=given.get("imagePullPolicy", "IfNotPresent"),
        security_context=given.get("securityContext"),
    )


def _object(text: str) -> dict[str, Any]:
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
        reconcilers={kind.resource: kind.run for kind in (reassignments.KIND, broker_sets.KIND)},
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
