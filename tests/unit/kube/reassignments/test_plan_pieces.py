"""A plan that is too large for one memory runs in pieces, whoever is killed at whatever write."""

from collections.abc import Callable
from typing import Any

import pytest

from ballast.kube.api.resources import CONFIG_MAPS
from ballast.kube.reassignments import plan_source
from ballast.kube.reassignments.plan_source import PlanNotReadable, load_piece
from ballast.reassign.plan.pieces import Piece
from ballast.reassign.plan.plan import Plan
from ballast.reassign.state.conditions import LifecycleState
from ballast.reassign.throttle.throttle_values import FOLLOWER_RATE
from tests.fakes.fuse import Fuse
from tests.unit.kube.reassignment_house import NAMESPACE, House, has_ended, is_gone
from tests.unit.kube.reassignments.test_plan_source import chunked
from tests.unit.reassign.house import ORIGINS, TARGETS, assert_nothing_pending

PLAN = Plan.of(TARGETS, ORIGINS)
MANUAL = {"policy": "Manual"}
Script = Callable[[House], None]


@pytest.fixture(autouse=True)
def _pieces_of_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(plan_source, "EXECUTABLE_PARTITIONS", 1)


def house_with(fuse: Fuse | None = None, **spec: Any) -> House:
    house = House(fuse=fuse)
    for document in chunked(PLAN)[1]:
        document["metadata"]["namespace"] = NAMESPACE
        house.api.put(CONFIG_MAPS, document)
    execution = {"throttle": {"rate": "2000"}, "maxConcurrentMovesPerBroker": 1}
    reference: dict[str, Any] = {"plan": {"configMapRef": {"name": "plan"}}}
    house.put(**reference, execution=execution, **spec)
    return house


def moved(house: House) -> int:
    replicas = house.cluster.replicas()
    return sum(replicas.get(tp) == TARGETS[tp] for tp in TARGETS)


def plain(house: House) -> None:
    """Leave it alone."""


def approved_late(house: House) -> None:
    if house.state() is LifecycleState.AWAITING_APPROVAL:
        assert moved(house) == 0
        house.intervenes()
        digest = house.seen().status["plan"]["digest"]
        house.put(approval={**MANUAL, "planDigest": digest})


def cancelled(house: House) -> None:
    if moved(house) >= 2:
        house.intervenes()
        house.put(desiredState="Cancelled")


def rolled_back(house: House) -> None:
    if moved(house) >= 2:
        house.intervenes()
        house.put(desiredState="RolledBack")


def rolled_back_after_the_end(house: House) -> None:
    if house.state() is LifecycleState.COMPLETED:
        house.intervenes()
        house.put(desiredState="RolledBack")


def deleted(house: House) -> None:
    found = house.find()
    if found is not None and not found.is_deleted and moved(house) >= 2:
        house.intervenes()
        house.delete()


SCENARIOS: dict[str, tuple[Script, dict[str, Any], LifecycleState | None]] = {
    "plain": (plain, {}, LifecycleState.COMPLETED),
    "approved": (approved_late, {"approval": MANUAL}, LifecycleState.COMPLETED),
    "cancelled": (cancelled, {}, LifecycleState.CANCELLED),
    "rolled back": (rolled_back, {}, LifecycleState.ROLLED_BACK),
    "rolled back after the end": (rolled_back_after_the_end, {}, LifecycleState.ROLLED_BACK),
    "deleted, Cancel": (deleted, {"deletionPolicy": "Cancel"}, None),
    "deleted, RollBack": (deleted, {"deletionPolicy": "RollBack"}, None),
}


@pytest.mark.parametrize("name", SCENARIOS)
def test_killed_at_any_write_it_comes_to_the_same_end(name: str) -> None:
    reference = lived(name, None)
    first = 1 if reference.turned_at is None else reference.turned_at
    for at in range(max(1, first), len(reference.fuse.effects) + 1):
        # Before a write or after it, in turn: the other one is that of the write beside it.
        check(name, lived(name, Fuse(at=at, after=at % 2 == 0)), f"killed at {at}")
    check(name, reference, "not killed")


def lived(name: str, fuse: Fuse | None) -> House:
    script, spec, outcome = SCENARIOS[name]
    house = house_with(fuse, **spec)
    house.events = script
    over: Callable[[House], bool] = is_gone if outcome is None else has_ended
    if name == "rolled back after the end":
        over = is_rolled_back
    house.live(over)
    return house


def is_rolled_back(house: House) -> bool:
    return house.state() is LifecycleState.ROLLED_BACK and has_ended(house)


def check(name: str, house: House, text: str) -> None:
    _, spec, outcome = SCENARIOS[name]
    replicas = house.cluster.replicas()
    if outcome is LifecycleState.COMPLETED:
        assert moved(house) == len(TARGETS), text
    elif outcome is LifecycleState.ROLLED_BACK or spec.get("deletionPolicy") == "RollBack":
        assert {tp: replicas[tp] for tp in ORIGINS} == ORIGINS, text
    else:
        assert all({*replicas[tp]} in ({*ORIGINS[tp]}, {*TARGETS[tp]}) for tp in TARGETS), text
        assert 2 <= moved(house) < len(TARGETS), text
    assert_nothing_pending(house.cluster)
    assert not any(FOLLOWER_RATE in values for values in house.cluster.broker_configs.values())
    if outcome is not None:
        status = house.seen().status
        assert house.state() is outcome, text
        assert status["plan"]["digest"] == PLAN.digest, text
        assert status["plan"]["partitions"] == len(PLAN.moves), text
        assert sum(status["progress"]["partitions"].values()) <= len(PLAN.moves), text


async def test_the_whole_is_shown_while_a_piece_runs() -> None:
    house = house_with()
    tender, shown = house.tender(), set()
    while not has_ended(house):
        await house.looks(tender, 1)
        status = house.seen().status
        if "startTime" in status:
            assert status["plan"]["digest"] == PLAN.digest
            assert sum(status["progress"]["partitions"].values()) == len(PLAN.moves)
            shown.add(house.message("Progressing").partition(":")[0])
    assert {f"piece {number} of 4" for number in (1, 2, 3, 4)} <= shown
    assert status["progress"]["summary"] == "4/4 (100%)"


async def test_others_may_begin_between_two_pieces() -> None:
    house = house_with()
    tender, places = house.tender(), []
    while not has_ended(house):
        await house.looks(tender, 1)
        state, queue = house.state(), house.seen().status.get("queue", {})
        if moved(house) and state is LifecycleState.QUEUED:
            places.append(queue.get("position"))
    assert 0 in places


async def test_a_later_piece_that_contradicts_the_cluster_waits_for_a_person() -> None:
    house = house_with()
    tender = house.tender()
    last = max(TARGETS)

    def remove_the_last(h: House) -> None:
        if moved(h) >= 2:
            h.cluster.partitions.pop(last, None)

    house.events = remove_the_last
    await house.until(lambda h: "True" in h.reason("Stalled"), tender)
    assert "piece 4 of 4" in house.message("Stalled")
    assert house.state() is LifecycleState.PENDING
    assert house.seen().status["queue"] == {"blockedBy": [], "yielding": True}
    house.put(desiredState="Cancelled")
    await house.until(has_ended, tender)
    assert house.state() is LifecycleState.CANCELLED


async def test_a_plan_that_was_exchanged_is_not_run() -> None:
    house = house_with()
    documents = chunked(Plan.of(dict.fromkeys(TARGETS, (2, 3, 4)), ORIGINS))[1]

    def exchange(h: House) -> None:
        if moved(h) == 1:
            for document in documents:
                document["metadata"]["namespace"] = NAMESPACE
                h.api.put(CONFIG_MAPS, document)

    house.events = exchange
    await house.until(lambda h: "PlanChanged" in h.reason("Progressing") or has_ended(h))
    assert house.reason("Progressing") == "False PlanChanged"
    assert not any(replicas == (2, 3, 4) for replicas in house.cluster.replicas().values())


async def test_a_piece_of_another_plan_is_not_read() -> None:
    house = house_with()
    piece = Piece(source="plan", plan_digest="sha256:0", partitions=4, size=1, number=0)
    with pytest.raises(PlanNotReadable, match="holds another plan"):
        await load_piece(house.api, NAMESPACE, piece)
