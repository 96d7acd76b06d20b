import random
from uuid import UUID

import pytest

from ballast.broker.errors import PartitionError
from ballast.broker.partitions.partition import Partition
from ballast.model.assignments import ReplicaAssignment
from ballast.model.ids import TopicPartition
from ballast.model.leadership import LeaderAndIsr
from ballast.protocol.error_codes import ErrorCode
from ballast.protocol.records import build_batch
from ballast.storage.directories.log_dirs import LogDirs
from ballast.storage.log.config import LogConfig
from tests.fakes.disk import FakeDisk

NAME = TopicPartition("t", 0)
BOTH = ReplicaAssignment(replicas=(1, 2))


def partition(high_watermark: int = 0, records: int = 3) -> Partition:
    log_dirs = LogDirs(
        FakeDisk(random.Random(1)),
        ["/logs"],
        broker_id=1,
        config_for=lambda _: LogConfig(),
        random=random.Random(1),
    )
    log_dirs.load_all("cluster")
    log = log_dirs.get_or_create(NAME)
    for number in range(records):
        log.append_as_follower(
            memoryview(build_batch([(None, b"x", 0)], base_offset=number, leader_epoch=0))
        )
    return Partition(NAME, log, broker_id=1, high_watermark=high_watermark)


def state(leader: int, leader_epoch: int) -> LeaderAndIsr:
    return LeaderAndIsr(leader=leader, leader_epoch=leader_epoch, isr=(1, 2), controller_epoch=1)


@pytest.mark.parametrize(("checkpoint", "expected"), [(0, 0), (2, 2), (9, 3)])
def test_the_checkpoint_is_taken_as_far_as_the_log_reaches(checkpoint: int, expected: int) -> None:
    assert partition(checkpoint).high_watermark == expected


def test_the_high_watermark_goes_through_every_role() -> None:
    replica = partition(2)
    replica.lead(state(1, 4), BOTH, 0.0)
    assert replica.high_watermark == 2
    assert replica.log.leader_epochs.latest_epoch == 4
    replica.follow(state(2, 5), BOTH)
    assert replica.high_watermark == 2
    replica.take_leader_offsets(2, 3)
    assert (replica.high_watermark, replica.log.log_start_offset) == (2, 2)
    replica.take_leader_offsets(100, 0)
    assert (replica.high_watermark, replica.log.log_start_offset) == (3, 2)
    replica.truncate(1)
    assert replica.high_watermark == 1
    replica.restart_at(50)
    assert (replica.high_watermark, replica.log.log_end_offset) == (50, 50)
    replica.stop()
    assert (replica.leader, replica.view) == (-1, None)


def test_the_term_grows_when_leading_ends_and_not_when_it_goes_on() -> None:
    replica = partition()
    replica.lead(state(1, 1), BOTH, 0.0)
    replica.lead(state(1, 2), BOTH, 0.0)
    leadership_generation = replica.leadership_generation
    replica.follow(state(2, 3), BOTH)
    replica.lead(state(1, 4), BOTH, 0.0)
    assert replica.leadership_generation > leadership_generation


@pytest.mark.parametrize(
    ("asked", "code"),
    [(3, ErrorCode.FENCED_LEADER_EPOCH), (5, ErrorCode.UNKNOWN_LEADER_EPOCH)],
)
def test_other_epochs_are_fenced(asked: int, code: ErrorCode) -> None:
    replica = partition()
    replica.lead(state(1, 4), BOTH, 0.0)
    with pytest.raises(PartitionError) as caught:
        replica.leader_view(asked)
    assert caught.value.code == code
    assert replica.leader_view(4) is replica.leader_view() is replica.view


def test_fencing_comes_before_not_being_the_leader() -> None:
    replica = partition()
    replica.follow(state(2, 4), BOTH)
    for asked, code in ((3, 74), (4, 6), (-1, 6)):
        with pytest.raises(PartitionError) as caught:
            replica.leader_view(asked)
        assert caught.value.code == code


def test_a_topic_id_is_noted_once() -> None:
    replica = partition()
    replica.take_topic_id(None)
    replica.take_topic_id(UUID(int=1))
    replica.take_topic_id(UUID(int=1))
    assert replica.log.topic_id == UUID(int=1)
    with pytest.raises(PartitionError) as caught:
        replica.take_topic_id(UUID(int=2))
    assert caught.value.code == ErrorCode.INCONSISTENT_TOPIC_ID
