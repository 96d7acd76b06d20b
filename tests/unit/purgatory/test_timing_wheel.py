"""The wheel against a sorted list, and the figures of its levels."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ballast.purgatory.timing_wheel import TimingWheel


def test_an_item_whose_deadline_has_come_is_not_taken() -> None:
    wheel: TimingWheel[str] = TimingWheel(100)

    assert wheel.add("now", 100) is None
    assert wheel.add("past", 7) is None
    assert len(wheel) == 0


@pytest.mark.parametrize("delay_ms", [1, 19, 20, 21, 399, 400, 401, 7_999, 8_000, 123_456_789])
def test_an_item_expires_at_its_deadline_and_not_before(delay_ms: int) -> None:
    wheel: TimingWheel[str] = TimingWheel(13)
    wheel.add("item", 13 + delay_ms)

    assert wheel.advance(13 + delay_ms - 1) == []
    assert wheel.advance(13 + delay_ms) == ["item"]
    assert len(wheel) == 0


def test_following_next_expiry_refines_coarse_buckets_down_to_the_deadline() -> None:
    wheel: TimingWheel[str] = TimingWheel(0)
    wheel.add("item", 425)
    visited = []

    while (expiry_ms := wheel.next_expiry_ms()) is not None:
        visited.append((expiry_ms, wheel.advance(expiry_ms)))

    # The bucket of 400 ms, then that of 20 ms, then that of 1 ms.
    assert visited == [(400, []), (420, []), (425, ["item"])]


def test_a_cancelled_item_neither_expires_nor_arms_the_timer() -> None:
    wheel: TimingWheel[str] = TimingWheel(0)
    entry = wheel.add("item", 30)
    assert entry is not None

    entry.cancel()
    entry.cancel()

    assert wheel.next_expiry_ms() is None
    assert wheel.advance(1_000) == []


def test_a_slot_is_used_again_after_its_bucket_was_emptied() -> None:
    wheel: TimingWheel[str] = TimingWheel(0)
    entry = wheel.add("first", 5)
    assert entry is not None
    entry.cancel()
    assert wheel.next_expiry_ms() is None

    wheel.add("second", 5)

    assert wheel.next_expiry_ms() == 5
    assert wheel.advance(5) == ["second"]


def test_draining_takes_everything_out() -> None:
    wheel: TimingWheel[int] = TimingWheel(0)
    for deadline_ms in (500, 3, 9_000):
        wheel.add(deadline_ms, deadline_ms)

    assert sorted(wheel.drain()) == [3, 500, 9_000]
    assert len(wheel) == 0
    assert wheel.next_expiry_ms() is None


_STEPS = st.one_of(
    st.tuples(st.just("add"), st.integers(0, 10_000)),
    st.tuples(st.just("cancel"), st.integers(0, 50)),
    st.tuples(st.just("advance"), st.integers(0, 3_000)),
)


@given(start_ms=st.integers(0, 10**9), steps=st.lists(_STEPS, max_size=60))
def test_the_wheel_expires_what_a_sorted_list_would(
    start_ms: int, steps: list[tuple[str, int]]
) -> None:
    wheel: TimingWheel[int] = TimingWheel(start_ms)
    now_ms, entries, model = start_ms, {}, {}
    for item, (step, amount) in enumerate(steps):
        if step == "add":
            entry = wheel.add(item, now_ms + amount)
            assert (entry is None) == (amount == 0)
            if entry is not None:
                entries[item], model[item] = entry, now_ms + amount
        elif step == "cancel" and model:
            chosen = sorted(model)[amount % len(model)]
            entries[chosen].cancel()
            del model[chosen]
        elif step == "advance":
            now_ms += amount
            expired = wheel.advance(now_ms)
            due = {i: deadline for i, deadline in model.items() if deadline <= now_ms}
            assert sorted(expired) == sorted(due)
            assert [due[i] for i in expired] == sorted(due.values())
            model = {i: deadline for i, deadline in model.items() if i not in due}
        assert len(wheel) == len(model)
        next_ms = wheel.next_expiry_ms()
        assert (next_ms is None) == (not model)
        assert next_ms is None or now_ms < next_ms <= min(model.values())
