"""One segment: index entries, positions, sealing."""

import pytest

from ballast.protocol.records import HEADER_SIZE, assign_offset, read_batch_header
from ballast.storage.log.index import OffsetEntry
from ballast.storage.log.segment import REMEMBERED_POSITIONS, BatchMark, Segment, mark_of
from tests.fakes.disk import FakeDisk
from tests.unit.storage.samples import DIRECTORY, batch, headers, new_disk


def filled(disk: FakeDisk, count: int = 30, interval: int = 200) -> Segment:
    """Return a segment at 100 with ``count`` batches of two records."""
    segment = Segment(disk, DIRECTORY, 100, interval)
    segment.create()
    for number in range(count):
        records = batch(2, timestamp=1000 + number)
        assign_offset(records, 0, 100 + 2 * number, 0)
        segment.append(records, [mark_of(read_batch_header(records))])
    return segment


SIZE = len(batch(2))


def test_an_entry_per_interval_names_the_batch_at_its_position() -> None:
    segment = filled(new_disk())
    step = 200 // SIZE + 1
    entries = [segment.offset_index.entry(n) for n in range(segment.offset_index.file.count)]
    assert entries == [
        OffsetEntry(100 + 2 * number + 1, number * SIZE) for number in range(step, 30, step)
    ]


def test_entries_are_made_inside_of_one_large_append_too() -> None:
    segment = Segment(new_disk(), DIRECTORY, 0, 200)
    segment.create()
    parts = [bytes(batch(2, base_offset=2 * n)) for n in range(10)]
    marks = [mark_of(read_batch_header(part), n * SIZE) for n, part in enumerate(parts)]
    segment.append(b"".join(parts), marks)
    assert segment.offset_index.file.count == 3
    assert segment.position_of(13) == 6 * SIZE


def test_positions() -> None:
    segment = filled(new_disk(), count=REMEMBERED_POSITIONS * 2)
    for _ in range(2):
        for offset in range(95, 100 + 4 * REMEMBERED_POSITIONS):
            assert segment.position_of(offset) == max(0, (offset - 100) // 2) * SIZE
    assert segment.position_of(100 + 4 * REMEMBERED_POSITIONS) == segment.size


def test_sealing_and_opening_again() -> None:
    disk = new_disk()
    segment = filled(disk)
    expected = segment.read(100, 160, 10_000, at_least_one_batch=True)
    segment.seal(160)
    assert segment.sealed
    assert segment.read(100, 160, 10_000, at_least_one_batch=True) == expected
    again = Segment(disk, DIRECTORY, 100, 200)
    again.open_sealed(160)
    assert (again.size, again.max_timestamp, again.max_timestamp_offset) == (30 * SIZE, 1030, 159)
    assert again.read(100, 160, 10_000, at_least_one_batch=True) == expected
    assert headers(again.read(131, 160, SIZE, at_least_one_batch=True))[0].base_offset == 130
    assert again.first_timestamp() == 1001


def test_truncating_a_sealed_segment_opens_it_for_appends() -> None:
    disk = new_disk()
    segment = filled(disk)
    segment.seal(160)
    assert segment.truncate(131) == 130
    assert not segment.sealed
    assert (segment.size, segment.max_timestamp) == (15 * SIZE, 1015)
    records = batch(2, base_offset=130)
    segment.append(records, [mark_of(read_batch_header(records))])
    assert segment.position_of(131) == 15 * SIZE
    segment.truncate(100)
    assert (segment.size, segment.first_timestamp()) == (0, -1)


@pytest.mark.parametrize("batches", [1, 2, 5])
@pytest.mark.parametrize("room", [-1, 0, 1, HEADER_SIZE - 1, HEADER_SIZE, SIZE - 1])
def test_reading_on_begins_where_the_last_answer_ended(batches: int, room: int) -> None:
    segment = filled(new_disk())
    limit = batches * SIZE + room
    fitting = max(limit // SIZE, 1)
    offset = 100
    while offset < 160:
        found = headers(segment.read(offset, 160, limit, at_least_one_batch=True))
        count = min(fitting, (160 - offset) // 2)
        assert [h.base_offset for h in found] == list(range(offset, offset + 2 * count, 2))
        offset = found[-1].next_offset


def test_the_mark_of_a_batch_holds_its_final_offset() -> None:
    records = batch(3, timestamp=50)
    assign_offset(records, 0, 7, 0)
    assert mark_of(read_batch_header(records), 20) == BatchMark(20, len(records), 9, 52)
