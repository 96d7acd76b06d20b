"""The options of ``ballast reassign``: which go together, in the words of Kafka's tool (2.8.2)."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from ballast.net.admin.cluster_connections import Address, parse_bootstrap_servers


class Action(StrEnum):
    """What the tool can be asked to do, in the order in which it names them."""

    GENERATE = "generate"
    EXECUTE = "execute"
    VERIFY = "verify"
    CANCEL = "cancel"
    LIST = "list"


TIMEOUT_MS = 10_000

_REQUIRED: Mapping[Action, tuple[str, ...]] = {
    Action.EXECUTE: ("reassignment-json-file",),
    Action.VERIFY: ("reassignment-json-file",),
    Action.CANCEL: ("reassignment-json-file",),
    Action.LIST: (),
    Action.GENERATE: ("topics-to-move-json-file", "broker-list"),
}
_PERMITTED: Mapping[Action, frozenset[str]] = {
    Action.EXECUTE: frozenset(
        {
            "reassignment-json-file",
            "throttle",
            "replica-alter-log-dirs-throttle",
            "additional",
            "timeout",
        }
    ),
    Action.VERIFY: frozenset({"reassignment-json-file", "preserve-throttles"}),
    Action.CANCEL: frozenset({"reassignment-json-file", "preserve-throttles", "timeout"}),
    Action.LIST: frozenset(),
    Action.GENERATE: frozenset({"topics-to-move-json-file", "broker-list", "disable-rack-aware"}),
}


class UsageError(Exception):
    """The options do not fit; the message is that of Kafka's tool."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GivenOptions:
    """The options as given on the command line; None or False = not given."""

    bootstrap_server: str | None = None
    reassignment_json_file: Path | None = None
    throttle: int | None = None
    log_dirs_throttle: int | None = None
    additional: bool = False
    preserve_throttles: bool = False
    timeout_ms: int | None = None
    topics_to_move_json_file: Path | None = None
    broker_list: str | None = None
    disable_rack_aware: bool = False

    def names(self) -> tuple[str, ...]:
        """Return the names of the options given, --bootstrap-server left out."""
        given = {
            "reassignment-json-file": self.reassignment_json_file is not None,
            "throttle": self.throttle is not None,
            "replica-alter-log-dirs-throttle": self.log_dirs_throttle is not None,
            "timeout": self.timeout_ms is not None,
            "additional": self.additional,
            "preserve-throttles": self.preserve_throttles,
            "topics-to-move-json-file": self.topics_to_move_json_file is not None,
            "broker-list": self.broker_list is not None,
            "disable-rack-aware": self.disable_rack_aware,
        }
        return tuple(name for name, is_given in given.items() if is_given)


@dataclass(frozen=True, slots=True, kw_only=True)
class ReassignOptions:
    """Options that fit together."""

    action: Action
    servers: tuple[Address, ...]
    file: Path | None
    """The reassignment, or with --generate the topics to move."""
    throttle: int
    """Bytes per second; negative = leave throttles alone."""
    log_dirs_throttle: int
    """Bytes per second between the log directories of a broker; negative = leave it alone."""
    timeout_ms: int
    """Time to wait until new replicas exist that are to be placed in a given log directory."""
    additional: bool
    preserve_throttles: bool
    broker_list: str = ""
    is_rack_aware: bool = True


def check_options(actions: Mapping[Action, bool], given: GivenOptions) -> ReassignOptions:
    """Return the options if they fit together. Raises `UsageError`."""
    chosen = [action for action in Action if actions.get(action)]
    if len(chosen) != 1:
        names = ", ".join(f"--{action}" for action in Action)
        raise UsageError(f"Command must include exactly one action: {names}")
    action = chosen[0]
    if given.bootstrap_server is None:
        raise UsageError("Please specify --bootstrap-server")
    for name in _REQUIRED[action]:
        if name not in given.names():
            raise UsageError(f'Missing required argument "[{name}]"')
    for name in given.names():
        if name not in _PERMITTED[action]:
            raise UsageError(f'Option "[{name}]" can\'t be used with action "[{action}]"')
    try:
        servers = parse_bootstrap_servers(given.bootstrap_server)
    except ValueError as error:
        raise UsageError(f"Invalid --bootstrap-server: {error}") from error
    return ReassignOptions(
        action=action,
        servers=servers,
        file=given.reassignment_json_file or given.topics_to_move_json_file,
        throttle=-1 if given.throttle is None else given.throttle,
        log_dirs_throttle=-1 if given.log_dirs_throttle is None else given.log_dirs_throttle,
        timeout_ms=TIMEOUT_MS if given.timeout_ms is None else given.timeout_ms,
        additional=given.additional,
        preserve_throttles=given.preserve_throttles,
        broker_list=given.broker_list or "",
        is_rack_aware=not given.disable_rack_aware,
    )
