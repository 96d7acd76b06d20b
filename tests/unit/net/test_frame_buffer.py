"""Frames out of a byte stream, and what they cost."""

import tracemalloc
from struct import pack

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ballast.net.errors import MalformedFrame
from ballast.net.frame_buffer import INITIAL_CAPACITY, READ_AHEAD, FrameBuffer

MAX = 100 * 1024 * 1024


def frame(body: bytes) -> bytes:
    return pack(">i", len(body)) + body


def feed(buffer: FrameBuffer, data: bytes, most: int = 1 << 30) -> list[bytes]:
    """Deliver ``data``, reading at most ``most`` bytes at a time; return the frames."""
    frames = []
    view = memoryview(data)
    while view:
        room = buffer.writable()
        assert len(room) > 0
        size = min(len(room), len(view), most)
        room[:size] = view[:size]
        buffer.received(size)
        view = view[size:]
        while (found := buffer.next_frame()) is not None:
            frames.append(bytes(found))
    return frames


@given(
    sizes=st.lists(st.sampled_from([8, 9, 100, 16380, 16384, 70_000, 262_140, 262_145, 600_000])),
    reads=st.sampled_from([1000, 16384, 65536, 1 << 30]),
)
def test_every_frame_comes_out_whole_and_in_order(sizes: list[int], reads: int) -> None:
    bodies = [bytes([number % 251]) * size for number, size in enumerate(sizes)]

    frames = feed(FrameBuffer(MAX), b"".join(map(frame, bodies)), reads)

    assert frames == bodies


def test_byte_by_byte() -> None:
    assert feed(FrameBuffer(MAX), frame(b"12345678") * 3, 1) == [b"12345678"] * 3


@pytest.mark.parametrize(
    "length", [-1, 0, 3, 7, 2**31 - 1, MAX + 1, 0x47455420, 0x16030100], ids=hex
)
def test_an_impossible_length_is_refused(length: int) -> None:
    """S4: also what an HTTP request and a TLS hello look like."""
    with pytest.raises(MalformedFrame):
        feed(FrameBuffer(MAX), pack(">i", length) + b"x" * 16)


def test_a_claim_costs_nothing() -> None:
    buffer = FrameBuffer(MAX)

    feed(buffer, pack(">i", MAX) + b"x" * 1000)

    assert buffer.capacity == INITIAL_CAPACITY


def test_memory_is_at_most_twice_what_came() -> None:
    buffer = FrameBuffer(MAX)
    came = 4
    feed(buffer, pack(">i", MAX))
    while came < 20_000_000:
        feed(buffer, b"x" * 10_000)
        came += 10_000
        assert buffer.capacity <= max(INITIAL_CAPACITY, 2 * came)


def test_a_steady_sender_of_large_frames_costs_no_allocation_and_no_move() -> None:
    buffer = FrameBuffer(MAX)
    megabyte = frame(b"x" * 1_000_000)
    feed(buffer, megabyte)
    tracemalloc.start()
    try:
        for _ in range(20):
            offered = 0
            while (found := buffer.next_frame()) is None:
                room = buffer.writable()
                offered += len(room)
                buffer.received(_fill(room, megabyte, buffer.pending))
            assert len(found) == 1_000_000
            assert offered == len(megabyte), "just the frame is read, so nothing is left to move"
            found = None
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 10_000


def _fill(room: memoryview, data: bytes, position: int) -> int:
    room[:] = memoryview(data)[position : position + len(room)]
    return len(room)


def test_small_frames_are_read_many_at_a_time() -> None:
    buffer = FrameBuffer(MAX)
    for _ in range(8):
        feed(buffer, frame(b"12345678") * 30_000)

    assert buffer.capacity == READ_AHEAD
    assert len(buffer.writable()) == READ_AHEAD


def test_an_unused_buffer_is_given_back() -> None:
    buffer = FrameBuffer(MAX)
    feed(buffer, frame(b"x" * 3_000_000))
    assert buffer.capacity > 3_000_000

    buffer.trim()
    assert buffer.capacity > 3_000_000, "it was used since the last trim"
    feed(buffer, frame(b"x" * 1000))
    buffer.trim()
    assert buffer.capacity == 0, "far larger than what was used: replaced when bytes arrive"
    feed(buffer, frame(b"x" * 1000))
    assert buffer.capacity == READ_AHEAD
    buffer.trim()
    buffer.trim()
    assert buffer.capacity == 0
    assert feed(buffer, frame(b"x" * 1000)) == [b"x" * 1000]


def test_it_reads_on_after_a_frame_that_filled_it_and_a_long_silence() -> None:
    buffer = FrameBuffer(MAX)
    large = b"x" * (2 * INITIAL_CAPACITY)
    assert feed(buffer, frame(large)) == [large]

    buffer.trim()
    buffer.trim()

    assert buffer.capacity == 0
    assert len(buffer.writable())
    assert feed(buffer, frame(b"0123456789")) == [b"0123456789"]


def test_an_incomplete_frame_is_never_given_back() -> None:
    buffer = FrameBuffer(MAX)
    whole = frame(b"0123456789")
    assert feed(buffer, whole[:7]) == []

    buffer.trim()
    buffer.trim()

    assert feed(buffer, whole[7:]) == [b"0123456789"]


def test_a_buffer_given_away_is_not_written_any_more() -> None:
    buffer = FrameBuffer(MAX)
    both = frame(b"a" * 20_000) + frame(b"b" * 10_000)
    view = memoryview(both)
    while view:
        room = buffer.writable()
        size = min(len(room), len(view))
        room[:size] = view[:size]
        buffer.received(size)
        view = view[size:]
    kept = buffer.next_frame()
    assert kept is not None

    buffer.give_away()
    second = buffer.next_frame()
    assert second is not None
    assert bytes(second) == b"b" * 10_000
    feed(buffer, frame(b"c" * 20_000) * 3)

    assert bytes(kept) == b"a" * 20_000


def test_a_buffer_given_away_is_used_again_once_nobody_holds_it() -> None:
    buffer = FrameBuffer(MAX)
    megabyte = frame(b"x" * 1_000_000)
    feed(buffer, megabyte)
    seen = set()
    held = []
    for number in range(10):
        while (found := buffer.next_frame()) is None:
            room = buffer.writable()
            buffer.received(_fill(room, megabyte, buffer.pending))
        seen.add(id(found.obj))
        if number < 2:
            held.append(found[:10])
        buffer.give_away()
        found = None
    assert len(seen) <= 4, "two that are held, and two in turn"
    assert [bytes(view) for view in held] == [b"x" * 10] * 2


def test_the_length_of_the_frame_at_the_start_is_known_before_the_frame_is_complete() -> None:
    buffer = FrameBuffer(100)
    assert buffer.announced is None
    for part, announced in ((b"\0\0\0", None), (b"\x0a", 10), (b"12345", 10)):
        buffer.writable()[: len(part)] = part
        buffer.received(len(part))
        assert buffer.announced == announced
    buffer.writable()[:9] = b"67890\0\0\0\x65"
    buffer.received(9)
    assert buffer.next_frame() is not None
    assert buffer.announced is None, "a frame that is too long is refused when it is taken"
