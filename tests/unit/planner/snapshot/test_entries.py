import msgspec

from ballast.planner.snapshot.entries import BrokerEntry, TopicEntry


def test_what_is_not_told_is_not_written() -> None:
    assert msgspec.json.encode(BrokerEntry(id=1)) == b'{"id":1}'
    topic = TopicEntry(topic="t", replicas=[[1]], bytes_in_per_second=[0.5])
    assert msgspec.json.encode(topic) == b'{"topic":"t","replicas":[[1]],"bytesInPerSecond":[0.5]}'
