"""What a server does on its own, beside others that are empty, silent, or lead."""

import pytest

from ballast.ensemble.decisions import (
    MAX_ID,
    Change,
    Disk,
    Report,
    StartWith,
    Wait,
    candidates,
    next_change,
    start,
)
from ballast.ensemble.settings import Addresses, ServerList

PLACES = Addresses(host_pattern="zk-{ordinal}")


def listing(*ids: int, version: int = 5) -> ServerList:
    return ServerList(servers={number: PLACES.server(number) for number in ids}, version=version)


def empty(server_id: int) -> Report:
    return Report(server_id=server_id, disk=Disk.EMPTY)


def member(server_id: int, *ids: int, mode: str = "", version: int = 5) -> Report:
    disk = Disk.MEMBER if server_id in ids else Disk.OUTSIDE
    return Report(server_id=server_id, disk=disk, mode=mode, list=listing(*ids, version=version))


def begun(server_id: int, disk: Disk, *reports: Report, wanted: int = 3) -> StartWith | Wait:
    by_id = {report.server_id: report for report in reports}
    return start(server_id, PLACES.server(server_id), disk, range(1, wanted + 1), by_id)


def test_the_first_begins_an_ensemble_of_itself_when_all_disks_are_empty() -> None:
    decided = begun(1, Disk.EMPTY, empty(2), empty(3))
    assert decided == StartWith(list=listing(1, version=0), is_new=True)
    assert begun(1, Disk.EMPTY, wanted=1) == decided


def test_nobody_else_begins_an_ensemble() -> None:
    assert isinstance(begun(2, Disk.EMPTY, empty(1), empty(3)), Wait)


@pytest.mark.parametrize(
    "others",
    [
        (),
        (empty(2),),
        (empty(2), member(3, 1, 2, 3)),
        (empty(2), Report(server_id=3, disk=Disk.OUTSIDE, list=listing(1))),
    ],
)
def test_the_first_waits_while_another_holds_data_or_is_silent(others: tuple[Report, ...]) -> None:
    assert isinstance(begun(1, Disk.EMPTY, *others), Wait)


def test_an_empty_server_observes_the_ensemble_first() -> None:
    decided = begun(3, Disk.EMPTY, member(1, 1, mode="leader"), empty(2))
    assert isinstance(decided, StartWith)
    assert ":participant" in decided.list.servers[1]
    assert ":observer" in decided.list.servers[3]
    assert not decided.is_new


def test_an_emptied_member_waits_until_it_is_none() -> None:
    assert isinstance(begun(1, Disk.EMPTY, member(2, 1, 2, 3, mode="leader")), Wait)
    decided = begun(1, Disk.EMPTY, member(2, 2, 3, mode="leader", version=6))
    assert isinstance(decided, StartWith)
    assert ":observer" in decided.list.servers[1]


def test_a_leader_is_believed_rather_than_a_list_of_before() -> None:
    before = member(3, 1, 2, 3, version=4)
    decided = begun(1, Disk.EMPTY, member(2, 2, 3, mode="leader", version=6), before)
    assert isinstance(decided, StartWith)


def test_a_member_that_has_not_heard_of_its_admission_votes_by_the_newest_list() -> None:
    """Else a majority that needs it could never come together after all were restarted."""
    decided = begun(2, Disk.OUTSIDE, member(1, 1, 2, 3), member(3, 1, version=4))
    assert decided == StartWith(list=listing(1, 2, 3))


def test_a_server_outside_waits_for_a_leader() -> None:
    assert isinstance(begun(2, Disk.OUTSIDE, member(1, 1)), Wait)
    assert isinstance(begun(2, Disk.OUTSIDE), Wait)


def test_two_that_have_copied_the_data_join_at_once() -> None:
    ready = {2: member(2, 1, mode="follower"), 3: member(3, 1, mode="follower")}
    assert next_change(listing(1), ready) == Change(version=5, joining=(2, 3))


def test_one_of_two_waits_for_the_other() -> None:
    assert next_change(listing(1), {2: member(2, 1, mode="follower"), 3: empty(3)}) is None
    assert next_change(listing(1), {2: member(2, 1, mode="observer")}) is None


def test_one_that_makes_the_number_odd_joins_alone() -> None:
    reports = {1: member(1, 2, 3, mode="follower"), 3: member(3, 2, 3, mode="follower")}
    assert next_change(listing(2, 3), reports) == Change(version=5, joining=(1,))


def test_of_three_the_first_two_join() -> None:
    reports = {number: member(number, 1, mode="follower") for number in (2, 3, 4)}
    assert next_change(listing(1), reports) == Change(version=5, joining=(2, 3))


def test_an_emptied_member_is_removed_before_anybody_joins() -> None:
    reports = {2: empty(2), 3: member(3, 1, 2, 3, mode="follower")}
    assert next_change(listing(1, 2, 3), reports) == Change(version=5, leaving=(2,))


def test_who_is_silent_stays_a_member() -> None:
    assert next_change(listing(1, 2, 3), {2: member(2, 1, 2, 3, mode="follower")}) is None


def test_the_leader_asks_members_and_those_who_may_be_next() -> None:
    assert candidates(listing(1), (1,)) == (1, 2, 3)
    assert candidates(listing(1, 2, 3), (1, 2, 3, 4, 5)) == (1, 2, 3, 4, 5, 6, 7)
    assert candidates(listing(*range(1, 10)), ())[-1] == MAX_ID
