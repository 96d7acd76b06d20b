from ballast.model.ids import TopicPartition
from ballast.znodes import isr_changes
from tests.unit.znodes.hostile import each_hostile_document, refused_somewhere


def test_as_kafka_writes_it() -> None:
    data = isr_changes.encode([TopicPartition("t", 0)])
    assert data == b'{"version":1,"partitions":[{"topic":"t","partition":0}]}'
    assert isr_changes.decode("isr_change_0000000007", data) == {TopicPartition("t", 0)}
    assert isr_changes.PREFIX == "/isr_change_notification/isr_change_"


@each_hostile_document
def test_hostile(data: bytes) -> None:
    refused_somewhere(
        lambda d: isr_changes.decode("isr_change_0000000007", d),
        data,
        "/isr_change_notification/isr_change_0000000007",
    )
