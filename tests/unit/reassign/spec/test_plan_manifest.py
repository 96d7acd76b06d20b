import pytest

from ballast.model.ids import TopicPartition
from ballast.reassign.errors import ManifestRejected
from ballast.reassign.spec.plan_manifest import read_kafka_plan


def test_a_plan_file_is_kafkas_json() -> None:
    assignments = read_kafka_plan(
        '{"version":1,"partitions":[{"topic":"t","partition":3,"replicas":[1,2]}]}'
    )
    assert assignments.targets == {TopicPartition("t", 3): (1, 2)}
    assert assignments.paths == {TopicPartition("t", 3): "spec.plan.file: partitions[0]"}


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "spec.plan.file: The input string is not a valid JSON"),
        ('{"partitions":[]}', "spec.plan.file: Partition reassignment list cannot be empty"),
        (
            '{"partitions":[{"topic":"../t","partition":0,"replicas":[1]}]}',
            "spec.plan.file: partitions[0].topic: Topic name",
        ),
        (
            '{"partitions":[{"topic":"t","partition":-1,"replicas":[1]}]}',
            "spec.plan.file: partitions[0].partition: must not be negative",
        ),
        (
            '{"partitions":[{"topic":"t","partition":0,"replicas":[-1]}]}',
            "spec.plan.file: partitions[0].replicas[0]: must be between 0 and",
        ),
        (
            '{"partitions":[{"topic":"t","partition":0,"replicas":[1],"log_dirs":["d"]}]}',
            "spec.plan.file: partitions[0].log_dirs[0]: must be an absolute path, or any",
        ),
    ],
)
def test_a_bad_plan_file_is_refused(text: str, reason: str) -> None:
    with pytest.raises(ManifestRejected) as caught:
        read_kafka_plan(text)
    assert str(caught.value.errors[0]).startswith(reason)


def test_errors_name_where_the_plan_came_from() -> None:
    with pytest.raises(ManifestRejected) as caught:
        read_kafka_plan("{", "spec.plan.configMapRef")
    assert str(caught.value.errors[0]).startswith("spec.plan.configMapRef: The input string")
