"""Which properties a broker set's config may have, and which of them go without a restart."""

from collections.abc import Callable, Mapping
from typing import Final

_INT_MAX: Final = 2**31 - 1

FORBIDDEN: Final = frozenset(
    {
        "broker.id",
        "broker.id.generation.enable",
        "broker.rack",
        "listeners",
        "advertised.listeners",
        "listener.security.protocol.map",
        "inter.broker.listener.name",
        "control.plane.listener.name",
        "security.inter.broker.protocol",
        "host.name",
        "port",
        "advertised.host.name",
        "advertised.port",
        "log.dir",
        "log.dirs",
        "metadata.log.dir",
        "process.roles",
        "node.id",
        "leader.replication.throttled.rate",
        "follower.replication.throttled.rate",
        "leader.replication.throttled.replicas",
        "follower.replication.throttled.replicas",
        "controlled.shutdown.enable",
    }
)
"""Ids, addresses and directories come from the pod, throttles from reassignments."""

FORBIDDEN_PREFIXES: Final = ("zookeeper.", "ballast.", "listener.name.")

MIN_INSYNC_REPLICAS: Final = "min.insync.replicas"


def _integer(minimum: int) -> Callable[[str], str | None]:
    def refusal(text: str) -> str | None:
        if not text.isascii() or not text.isdecimal() or len(text) > 10:
            return "must be a whole number"
        if not minimum <= int(text) <= _INT_MAX:
            return f"must be between {minimum} and {_INT_MAX}"
        return None

    return refusal


DYNAMIC: Final[Mapping[str, Callable[[str], str | None]]] = {
    "log.index.interval.bytes": _integer(0),
    "log.segment.bytes": _integer(14),
    "message.max.bytes": _integer(0),
    MIN_INSYNC_REPLICAS: _integer(1),
}
"""The properties that a running broker takes from IncrementalAlterConfigs, each with what says why
a value is refused. The same as the broker's own table, less the throttles."""


def is_forbidden(name: str) -> bool:
    """Whether a property is Ballast's own."""
    return name in FORBIDDEN or name.startswith(FORBIDDEN_PREFIXES)
