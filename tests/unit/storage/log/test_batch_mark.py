"""What a segment is told of a batch."""

from ballast.protocol.records import assign_offset, read_batch_header
from ballast.storage.log.batch_mark import BatchMark, mark_of
from tests.unit.storage.samples import batch


def test_the_mark_of_a_batch_holds_its_final_offset() -> None:
    records = batch(3, timestamp=50)
    assign_offset(records, 0, 7, 0)
    assert mark_of(read_batch_header(records), 20) == BatchMark(20, len(records), 9, 52)
