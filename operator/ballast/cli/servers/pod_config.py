"""The properties that a broker takes from its pod: its id, its addresses, its rack.

The pods of a BrokerSet share one properties file. The id and the addresses come from the
environment, and the rack from a file named after the pod's node; they override the properties file.
"""

import os
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final

from ballast.broker.config.config import BrokerConfig
from ballast.model.settings.keys import ConfigError
from ballast.model.settings.values import INT_MAX

CLIENT_PORT: Final = 9092
HTTP_PORT: Final = 8080
LOG_DIRECTORY: Final = "/var/lib/ballast/data"
ZOOKEEPER_WAIT_MS: Final = 600_000
"""Default of zookeeper.connection.timeout.ms in a pod: ZooKeeper may start at the same time, and
Kubernetes delays each restart of a container that exits longer than the one before."""

LOCK_WAIT_MS: Final = 300_000
"""Default of ballast.log.dir.lock.timeout.ms in a pod: the process of a pod that was deleted by
force uses the log directory until the kubelet has ended it."""

RACK_WAIT_S: Final = 150.0
"""Maximum wait for the node's file: the operator writes it when a pod is first placed on the node,
and a kubelet needs up to a minute and a half to update a mounted ConfigMap."""
RACK_POLL_S: Final = 0.5

Properties = Mapping[str, str]


def configure(given: Properties) -> tuple[BrokerConfig, Mapping[str, str]]:
    """Return the configuration of this pod, and the properties without effect, with reasons.

    Waits up to `RACK_WAIT_S` for the rack. Raises `ConfigError`, which names the variable or the
    property at fault.
    """
    return BrokerConfig.from_properties(pod_properties(os.environ, given, time.sleep))


def pod_properties(
    environment: Mapping[str, str], given: Properties, sleep: Callable[[float], None]
) -> Properties:
    """Return the properties of the pod that the environment describes, which override ``given``."""
    namespace, service = (_required(environment, name) for name in _ADDRESS)
    pod = _required(environment, "POD_NAME")
    domain = environment.get("BALLAST_CLUSTER_DOMAIN") or "cluster.local"
    host = f"{pod}.{service}.{namespace}.svc.{domain}"
    properties = {
        "zookeeper.connection.timeout.ms": str(ZOOKEEPER_WAIT_MS),
        "ballast.log.dir.lock.timeout.ms": str(LOCK_WAIT_MS),
        **given,
        "broker.id": str(_broker_id(pod, environment.get("BALLAST_BROKER_ID_OFFSET") or "0")),
        "listeners": f"PLAINTEXT://:{CLIENT_PORT}",
        "advertised.listeners": f"PLAINTEXT://{host}:{CLIENT_PORT}",
        "log.dirs": LOG_DIRECTORY,
        "ballast.http.listener": f":{HTTP_PORT}",
    }
    racks = environment.get("BALLAST_RACKS_DIR")
    if racks:
        properties.pop("broker.rack", None)
        rack = _rack(Path(racks), _required(environment, "NODE_NAME"), sleep)
        if rack:
            properties["broker.rack"] = rack
    return properties


_ADDRESS: Final = ("POD_NAMESPACE", "BALLAST_SERVICE")


def _required(environment: Mapping[str, str], name: str) -> str:
    value = environment.get(name, "")
    if not value:
        raise ConfigError(name, "the pod does not set this variable")
    return value


def _broker_id(pod: str, offset: str) -> int:
    """Return a StatefulSet pod's ordinal plus the offset of its set."""
    _, dash, ordinal = pod.rpartition("-")
    if not dash or not _is_number(ordinal):
        raise ConfigError("POD_NAME", f"not the name of a StatefulSet's pod: {pod!r}")
    if not _is_number(offset):
        raise ConfigError("BALLAST_BROKER_ID_OFFSET", f"not a number: {offset!r}")
    broker_id = int(ordinal) + int(offset)
    if broker_id > INT_MAX:
        raise ConfigError("BALLAST_BROKER_ID_OFFSET", f"no broker can have the id {broker_id}")
    return broker_id


def _is_number(text: str) -> bool:
    return text.isascii() and text.isdecimal() and len(text) <= 10


def _rack(directory: Path, node: str, sleep: Callable[[float], None]) -> str:
    """Return what the node's file says, empty for a node without a rack."""
    if "/" in node or node.startswith("."):
        raise ConfigError("NODE_NAME", f"not the name of a node: {node!r}")
    file = directory / node
    for _ in range(int(RACK_WAIT_S / RACK_POLL_S)):
        try:
            return file.read_text().strip()
        except FileNotFoundError:
            sleep(RACK_POLL_S)
    raise ConfigError(
        "broker.rack",
        f"{file} has not appeared in {RACK_WAIT_S:.0f} s: the operator writes it from the node's "
        "label; is it running, and may it read nodes?",
    )
