"""What a member does before its server may start, and how an ensemble changes. No I/O.

**Goal.** Metadata that was acknowledged is never lost by a list of servers that grows, by a disk
that was replaced, or by servers that start in any order.

**Rules.**
1. A server whose disk holds the ensemble's list with itself in it starts: nothing is decided.
2. A server with an empty disk never votes before a leader has admitted it. It starts as an observer
   of the ensemble, copies the data, and is then added by a reconfiguration.
3. An ensemble is made only by the server with id 1, and only if every other server that is wanted
   says that its disk is empty too.
4. A member whose disk was emptied is first removed from the ensemble by those that have the data.
   Its acknowledgements counted for a majority: as a voter without data it could elect a server
   on which they are missing.
5. The ensemble changes to an odd number of voters wherever it can. Two servers that join are added
   in one step, for an ensemble of two bears less than one server alone.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from ballast.ensemble.settings import ServerList

FIRST_ID: Final = 1
MAX_ID: Final = 9
"""Writes become slower with each voter, and nine voters survive four failures."""


class Disk(StrEnum):
    """What a server's disk says about it."""

    EMPTY = "Empty"
    """It has never held the ensemble's data."""
    OUTSIDE = "Outside"
    """It holds data and a list of servers in which the server itself is not a voter."""
    MEMBER = "Member"
    """It holds data, or may hold some soon, and a list with the server itself as a voter."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """What a member says about itself."""

    server_id: int
    disk: Disk
    mode: str = ""
    """``leader`` or ``follower`` while its server takes sessions, else empty."""
    list: ServerList | None = None
    """The list on its disk; None on an empty one."""

    @property
    def is_leader(self) -> bool:
        """Whether its server leads the ensemble."""
        return self.mode == "leader"


@dataclass(frozen=True, slots=True, kw_only=True)
class StartWith:
    """Start the server with this list."""

    list: ServerList
    is_new: bool = False
    """Whether an ensemble begins with it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Wait:
    """Ask again later."""

    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """A reconfiguration, of the list at ``version``: either servers join or one leaves."""

    version: int
    joining: tuple[int, ...] = ()
    leaving: tuple[int, ...] = ()


def start(
    server_id: int,
    server: str,
    disk: Disk,
    wanted: Collection[int],
    reports: Mapping[int, Report],
) -> StartWith | Wait:
    """Return how a server that its disk does not name as a voter gets its list of servers.

    ``server`` is the value of its own ``server.<id>``, ``wanted`` are the ids of all servers that
    the ensemble shall have, ``reports`` what the others have answered.
    """
    listed = [report for report in reports.values() if report.list is not None]
    leaders = [report for report in listed if report.is_leader]
    if leaders or (listed and disk is Disk.OUTSIDE):
        newest = max(
            leaders or listed, key=lambda report: report.list.version if report.list else 0
        )
        assert newest.list is not None
        return _under(newest.list, bool(leaders), server_id, server, disk)
    if disk is Disk.EMPTY and not listed:
        return _found(server_id, server, wanted, reports)
    return Wait(reason="no server leads the ensemble")


def _under(
    current: ServerList, has_leader: bool, server_id: int, server: str, disk: Disk
) -> StartWith | Wait:
    """Return how a server starts beside an ensemble of which this is the newest list."""
    if server_id not in current.ids:
        if not has_leader:
            return Wait(reason="no server leads the ensemble")
        return StartWith(list=current.with_observer(server_id, server))
    if disk is Disk.EMPTY:
        return Wait(reason="its disk is empty: the leader has to remove it from the ensemble first")
    return StartWith(list=current)


def _found(
    server_id: int, server: str, wanted: Collection[int], reports: Mapping[int, Report]
) -> StartWith | Wait:
    """Return whether an ensemble begins here."""
    if server_id != FIRST_ID:
        return Wait(reason=f"server {FIRST_ID} has not begun the ensemble")
    others = [other for other in sorted(wanted) if other != server_id]
    silent = [str(other) for other in others if other not in reports]
    if silent:
        return Wait(reason=f"servers {', '.join(silent)} have not said whether they hold data")
    holding = [str(other) for other in others if reports[other].disk is not Disk.EMPTY]
    if holding:
        return Wait(reason=f"servers {', '.join(holding)} hold data, but none of them leads")
    return StartWith(list=ServerList(servers={server_id: server}), is_new=True)


def candidates(current: ServerList, wanted: Collection[int]) -> tuple[int, ...]:
    """Return whom the leader asks: members, those that are wanted, and who may be next.

    Servers that were added are seen before the number that is wanted is known everywhere.
    """
    highest = max((*current.ids, *wanted, FIRST_ID))
    return tuple(range(FIRST_ID, min(highest + 2, MAX_ID) + 1))


def next_change(current: ServerList, reports: Mapping[int, Report]) -> Change | None:
    """Return the reconfiguration that the leader's member asks for now, None for none."""
    emptied = [
        number
        for number in sorted(current.ids)
        if number in reports and reports[number].disk is Disk.EMPTY
    ]
    if emptied:
        return Change(version=current.version, leaving=(emptied[0],))
    ready = [
        number
        for number in sorted(reports)
        if number not in current.ids and reports[number].mode == "follower"
    ]
    if (len(current.ids) + len(ready)) % 2 == 0:
        ready = ready[:-1]
    return Change(version=current.version, joining=tuple(ready)) if ready else None
