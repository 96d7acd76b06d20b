"""The options of an elected controller: its configuration and what Ballast adds to it."""

from collections.abc import Callable
from dataclasses import dataclass, field, fields

from ballast.model.settings.controller_config import ControllerConfig


def nothing_is_cordoned(broker_id: int) -> bool:  # noqa: ARG001 - the same for every broker
    """Accept every broker for new replicas."""
    return False


@dataclass(slots=True, kw_only=True)
class ControllerOptions:
    """The options of an elected controller. Each may change and is read when it is needed."""

    config: ControllerConfig = field(default_factory=ControllerConfig)
    """The default of all brokers in ZooKeeper (``<default>``) overrides its
    `unclean_leader_election_enable`, and a topic both."""
    is_cordoned: Callable[[int], bool] = nothing_is_cordoned
    """Whether a broker gets no replicas of new topics, because it is to be removed."""
    removed_ids_start: int | None = None
    """Brokers with this id or a higher one were removed and do not return: topic deletion does not
    wait for one that is not registered. None = every broker may return."""

    def update(self, other: "ControllerOptions") -> None:
        """Copy all values of ``other``."""
        for option in fields(self):
            setattr(self, option.name, getattr(other, option.name))
