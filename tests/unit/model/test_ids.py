from ballast.model.ids import TopicPartition, partitions_of


def test_named_as_kafka_names_it() -> None:
    assert str(TopicPartition("orders-eu", 12)) == "orders-eu-12"


def test_ordered_by_topic_then_number() -> None:
    unordered = [TopicPartition("b", 0), TopicPartition("a", 10), TopicPartition("a", 9)]
    assert sorted(unordered) == [("a", 9), ("a", 10), ("b", 0)]


def test_many_of_one_topic() -> None:
    made = partitions_of("t", [2, 0])
    assert made == [TopicPartition("t", 2), TopicPartition("t", 0)]
    assert [str(partition) for partition in made] == ["t-2", "t-0"]
    assert {*map(type, made)} == {TopicPartition}
