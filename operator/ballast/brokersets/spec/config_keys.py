"""Which properties a broker set's config may have, and which of them go without a restart."""

from collections.abc import Mapping
from typing import Final

from ballast.model.settings.judging import judge
from ballast.model.settings.keys import Support
from ballast.model.settings.table import BROKER_SETTINGS

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
        "replica.alter.log.dirs.io.max.bytes.per.second",
        "controlled.shutdown.enable",
    }
)
"""Ids, addresses and directories come from the pod, throttles from reassignments."""

FORBIDDEN_PREFIXES: Final = ("zookeeper.", "ballast.", "listener.name.")

UNSERVED: Final = frozenset(
    {
        "super.users",
        "allow.everyone.if.no.acl.found",
        "principal.builder.class",
        "connections.max.reauth.ms",
        "create.topic.policy.class.name",
        "alter.config.policy.class.name",
        "client.quota.callback.class",
        "controller.listener.names",
    }
)
"""What brokers do not start with: the same as rows of the table, by name, for the API server."""

UNSERVED_PREFIXES: Final = (
    "ssl.",
    "sasl.",
    "security.",
    "authorizer.",
    "delegation.token.",
    "password.encoder.",
    "quota.",
    "controller.quorum.",
)

ALLOWED_PREFIX: Final = "ballast.load."
"""How much history of load there is, is for the users of a set to say."""

MIN_INSYNC_REPLICAS: Final = "min.insync.replicas"


def is_forbidden(name: str) -> bool:
    """Whether a property is Ballast's own."""
    if name.startswith(ALLOWED_PREFIX):
        return False
    return name in FORBIDDEN or name.startswith(FORBIDDEN_PREFIXES)


def is_unserved(name: str) -> bool:
    """Whether a property is of a part of Kafka that brokers do not have."""
    return name in UNSERVED or name.startswith(UNSERVED_PREFIXES)


DYNAMIC: Final = frozenset(
    name for name, row in BROKER_SETTINGS.items() if row.dynamic and not is_forbidden(name)
)
"""The properties that a running broker takes from IncrementalAlterConfigs, less the throttles."""


def refusal(name: str, text: str) -> str | None:
    """Return why a broker would not start with a property, or None if it would."""
    try:
        support, reason = judge(name, text)
    except ValueError as error:
        return f"is not a legal value: {error}"
    return f"is not honoured: {reason}" if support is Support.REFUSED else None


def without_effect(config: Mapping[str, str]) -> dict[str, str]:
    """Return the properties that brokers take and that have no effect there, with the reason.

    Each of the config's values must be a legal one.
    """
    judged = {name: judge(name, text) for name, text in sorted(config.items())}
    return {name: why for name, (support, why) in judged.items() if support is Support.REPORTED}
