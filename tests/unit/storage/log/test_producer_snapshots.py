"""Kafka's .snapshot files."""

from dataclasses import replace

import pytest

from ballast.replication.producer_state import AppendedBatch, OutOfOrderSequence, ProducerSnapshot
from ballast.storage.errors import CorruptCheckpoint
from ballast.storage.log.producer_snapshots import SnapshotFiles, decode_snapshot, encode_snapshot
from tests.unit.storage.samples import DIRECTORY, append, batch, new_disk, reopened

PRODUCER = ProducerSnapshot(
    producer_id=1,
    producer_epoch=2,
    last_sequence=3,
    last_offset=4,
    offset_delta=5,
    timestamp_ms=6,
)
BYTES = bytes.fromhex(
    "0001 d60ce518 00000001 0000000000000001 0002 00000003 0000000000000004 00000005"
    "0000000000000006 ffffffff ffffffffffffffff"
)


def test_exact_bytes() -> None:
    assert encode_snapshot([PRODUCER]) == BYTES
    assert decode_snapshot(BYTES) == [PRODUCER]
    assert decode_snapshot(encode_snapshot([])) == []


def test_batches_before_the_last_follow_what_kafka_reads() -> None:
    earlier = (AppendedBatch(1, 2, 0, 3), AppendedBatch(2, 3, 0, 4))
    known = replace(PRODUCER, producer_id=8, earlier=earlier)
    data = encode_snapshot([PRODUCER, known])
    kafkas = encode_snapshot([PRODUCER, replace(known, earlier=())])
    assert data[6 : len(kafkas)] == kafkas[6:]
    assert decode_snapshot(data) == [PRODUCER, known]


@pytest.mark.parametrize(
    "producer", [PRODUCER, replace(PRODUCER, earlier=(AppendedBatch(1, 2, 0, 3),))]
)
def test_any_damage_is_found(producer: ProducerSnapshot) -> None:
    data = encode_snapshot([producer])
    for position in range(len(data)):
        damaged = bytearray(data)
        damaged[position] ^= 1
        with pytest.raises(CorruptCheckpoint):
            decode_snapshot(bytes(damaged))
        with pytest.raises(CorruptCheckpoint):
            decode_snapshot(data[:position])


def test_the_newest_whole_snapshot_below_the_end_is_found_and_others_above_go() -> None:
    disk = new_disk()
    snapshots = SnapshotFiles(disk, DIRECTORY)
    for offset in (5, 10, 20):
        snapshots.take(offset, [PRODUCER], keep={5, 10, 20})
    disk.replace_content(f"{DIRECTORY}/{10:020d}.snapshot", b"torn")
    again = SnapshotFiles(disk, DIRECTORY)
    assert again.latest(19) == (5, [PRODUCER])
    assert disk.names(DIRECTORY) == [f"{5:020d}.snapshot"]
    again.clear()
    assert again.latest(100) is None
    assert disk.names(DIRECTORY) == []


def test_only_wanted_snapshots_stay() -> None:
    disk = new_disk()
    snapshots = SnapshotFiles(disk, DIRECTORY)
    for offset in (5, 10, 20):
        snapshots.take(offset, [], keep={5})
    assert disk.names(DIRECTORY) == [f"{offset:020d}.snapshot" for offset in (5, 20)]
    snapshots.flush()
    disk.crash()
    assert SnapshotFiles(disk, DIRECTORY).latest(20) == (20, [])


def test_a_clean_restart_knows_all_batches_that_a_producer_may_repeat() -> None:
    disk = new_disk()
    log = reopened(disk)
    append(log, *[batch(2, producer=(9, 0, 2 * n)) for n in range(7)])
    log.close(clean=True)
    again = reopened(disk)
    for n in range(2, 7):
        info = again.append_as_leader(batch(2, producer=(9, 0, 2 * n)), leader_epoch=0, now_ms=1000)
        assert (info.duplicate, info.first_offset) == (True, 2 * n)
    with pytest.raises(OutOfOrderSequence):
        append(again, batch(2, producer=(9, 0, 2)))
    append(again, batch(2, producer=(9, 0, 14)))
