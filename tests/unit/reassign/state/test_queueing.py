import itertools
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ballast.reassign.state.conditions import FINAL_STATUS, LifecycleState
from ballast.reassign.state.queueing import NOT_QUEUED, Purpose, QueueEntry, QueuePlace, places


def entry(
    name: str, minute: int = 0, state: LifecycleState = LifecycleState.QUEUED, **other: object
) -> QueueEntry:
    made = QueueEntry(
        name=name, uid=f"uid-{name}", creation_time=f"2026-01-01T00:{minute:02}:00Z", state=state
    )
    return replace(made, **other)  # type: ignore[arg-type]


def order(*entries: QueueEntry) -> list[str]:
    """Return the names in the queue, by their positions."""
    found = places(entries)
    queued = [(found[e.uid].position, e.name) for e in entries if found[e.uid] != NOT_QUEUED]
    return [name for _, name in sorted(queued, key=str)]


OLD, YOUNG = entry("old", 1), entry("young", 2)


@pytest.mark.parametrize(
    ("entries", "expected"),
    [
        pytest.param((), [], id="no entry"),
        pytest.param((YOUNG, OLD), ["old", "young"], id="the older first"),
        pytest.param((entry("b"), entry("a")), ["a", "b"], id="equally old: by name"),
        pytest.param(
            (OLD, entry("drain", 3, purpose=Purpose.DRAIN)),
            ["drain", "old"],
            id="a drain before an explicit plan",
        ),
        pytest.param(
            (
                entry("running", 9, LifecycleState.EXECUTING, has_begun=True),
                entry("drain", purpose=Purpose.DRAIN),
            ),
            ["running", "drain"],
            id="who has begun keeps its turn",
        ),
        pytest.param(
            (entry("held", 1, LifecycleState.VERIFYING, yields=True), YOUNG),
            ["young"],
            id="has yielded: blocks no other",
        ),
        pytest.param(
            (entry("held", 9, LifecycleState.PAUSED, has_begun=True, is_paused=True), OLD),
            ["held", "old"],
            id="paused after it began: keeps its turn",
        ),
        pytest.param(
            (entry("held", 0, LifecycleState.PAUSED, is_paused=True), OLD),
            ["old"],
            id="paused before its start: blocks no other",
        ),
        pytest.param(
            (entry("unapproved", 0, LifecycleState.AWAITING_APPROVAL), OLD),
            ["old"],
            id="not approved: blocks no other",
        ),
        pytest.param(
            (entry("undo", 5, LifecycleState.ROLLING_BACK, has_begun=True), OLD),
            ["undo", "old"],
            id="rolling back is running",
        ),
        pytest.param(
            (
                entry("one", 5, LifecycleState.EXECUTING, has_begun=True),
                entry("two", 4, LifecycleState.EXECUTING, has_begun=True),
            ),
            ["two", "one"],
            id="two began, from before there was a queue: one after the other",
        ),
    ],
)
def test_order(entries: tuple[QueueEntry, ...], expected: list[str]) -> None:
    for shuffled in itertools.permutations(entries):
        assert order(*shuffled) == expected


@pytest.mark.parametrize("state", FINAL_STATUS)
@pytest.mark.parametrize("has_begun", [True, False])
def test_who_has_ended_is_not_in_the_queue(state: LifecycleState, has_begun: bool) -> None:
    ended = entry("ended", 0, state, has_begun=has_begun)
    assert places((ended, OLD)) == {
        ended.uid: NOT_QUEUED,
        OLD.uid: QueuePlace(position=0),
    }


def test_who_waits_learns_for_whom() -> None:
    running = entry("running", 5, LifecycleState.EXECUTING, has_begun=True)
    found = places((YOUNG, OLD, running))
    assert found[running.uid].has_turn
    assert not found[OLD.uid].has_turn
    assert found[YOUNG.uid] == QueuePlace(position=2, blocked_by=("running", "old"))


def test_document_is_bounded() -> None:
    assert QueuePlace(position=0).to_document() == {"position": 0, "blockedBy": []}
    assert NOT_QUEUED.to_document() == {"blockedBy": []}
    names = tuple(f"r{n}" for n in range(30))
    assert QueuePlace(position=30, blocked_by=names).to_document() == {
        "position": 30,
        "blockedBy": list(names[:10]),
    }


@given(
    st.lists(
        st.builds(
            QueueEntry,
            name=st.sampled_from("abcde"),
            uid=st.uuids().map(str),
            creation_time=st.sampled_from(["2026-01-01T00:00:00Z", "2026-01-01T00:00:01Z"]),
            state=st.sampled_from(LifecycleState),
            purpose=st.sampled_from(Purpose),
            has_begun=st.booleans(),
            is_paused=st.booleans(),
        ),
        max_size=8,
    ),
    st.randoms(use_true_random=False),
)
def test_one_at_a_time_whatever_the_order(entries: list[QueueEntry], random: object) -> None:
    found = places(entries)
    shuffled = sorted(entries, key=lambda _: random.random())  # type: ignore[attr-defined]
    assert places(shuffled) == found
    ready = [e for e in entries if e.is_ready]
    assert sum(place.has_turn for place in found.values()) == bool(ready)
    assert sorted(p.position for p in found.values() if p.position is not None) == list(
        range(len(ready))
    )
