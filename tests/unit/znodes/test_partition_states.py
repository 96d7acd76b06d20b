import pytest

from ballast.model.ids import TopicPartition
from ballast.model.leadership import LeaderAndIsr
from ballast.znodes import partition_states
from ballast.znodes.errors import ZnodeError
from tests.unit.znodes.hostile import each_hostile_document, refused, refused_somewhere

PARTITION = TopicPartition("t", 0)
PATH = "/brokers/topics/t/partitions/0/state"


def decode(data: bytes) -> LeaderAndIsr:
    return partition_states.decode(PARTITION, data, 5)


def test_as_kafka_writes_it() -> None:
    leadership = LeaderAndIsr(
        leader=2, leader_epoch=27, isr=(2, 3, 1), controller_epoch=2, zk_version=5
    )
    data = partition_states.encode(leadership)
    assert data == b'{"controller_epoch":2,"leader":2,"version":1,"leader_epoch":27,"isr":[2,3,1]}'
    assert decode(data) == leadership


def test_no_leader_and_later_fields() -> None:
    data = (
        b'{"controller_epoch":1,"leader":-1,"version":1,"leader_epoch":1,"isr":[2],'
        b'"leader_recovery_state":1}'
    )
    assert decode(data).leader == -1


@each_hostile_document
def test_hostile(data: bytes) -> None:
    refused_somewhere(decode, data, PATH)


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("leader", b"-2"),
        ("leader", b'"1"'),
        ("leader", b"2147483648"),
        ("leader_epoch", b"-1"),
        ("leader_epoch", b"null"),
        ("controller_epoch", b"1.5"),
        ("isr", b"{}"),
        ("isr", b"7"),
    ],
)
def test_bad_fields(field: str, value: bytes) -> None:
    fields = {"controller_epoch": b"1", "leader": b"1", "leader_epoch": b"0", "isr": b"[1]"}
    fields[field] = value
    data = b"{" + b",".join(b'"%s":%s' % (k.encode(), v) for k, v in fields.items()) + b"}"
    refused(decode, data, PATH, field)


@each_hostile_document
def test_hostile_among_others(data: bytes) -> None:
    reported: list[ZnodeError] = []
    state = LeaderAndIsr(leader=1, leader_epoch=0, isr=(1,), controller_epoch=1, zk_version=6)
    other = TopicPartition("t", 1)
    znodes = [(PARTITION, data, 5), (other, partition_states.encode(state), 6)]
    assert partition_states.decode_all(znodes, reported.append) == {other: state}
    with pytest.raises(ZnodeError) as alone:
        decode(data)
    assert [str(error) for error in reported] == [str(alone.value)]


def test_paths() -> None:
    assert partition_states.paths([PARTITION, TopicPartition("u", 12)]) == [
        PATH,
        "/brokers/topics/u/partitions/12/state",
    ]
    assert partition_states.path(PARTITION) == PATH
    assert partition_states.partition_path(PARTITION) == "/brokers/topics/t/partitions/0"
