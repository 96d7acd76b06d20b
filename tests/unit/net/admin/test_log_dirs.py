from ballast.model.ids import TopicPartition
from ballast.net.admin.log_dirs import (
    alter_outcomes,
    alter_request,
    describe_request,
    replica_log_dirs,
)
from ballast.protocol.messages.admin import alter_replica_log_dirs as alter_wire
from ballast.protocol.messages.admin import describe_log_dirs as describe_wire
from ballast.reassign.ports import ReplicaLogDirs

A0, A1, B0 = TopicPartition("a", 0), TopicPartition("a", 1), TopicPartition("b", 0)


def listed(
    path: str, *replicas: tuple[TopicPartition, bool]
) -> describe_wire.DescribeLogDirsResult:
    return describe_wire.DescribeLogDirsResult(
        log_dir=path,
        topics=tuple(
            describe_wire.DescribeLogDirsTopic(
                name=name.topic,
                partitions=(
                    describe_wire.DescribeLogDirsPartition(
                        partition_index=name.partition, is_future_key=is_future
                    ),
                ),
            )
            for name, is_future in replicas
        ),
    )


def test_what_is_asked() -> None:
    request = describe_request({"b": [0], "a": [1, 0]})
    assert [(t.topic, t.partitions) for t in request.topics or ()] == [("a", (0, 1)), ("b", (0,))]


def test_where_replicas_are_and_go_to() -> None:
    response = describe_wire.DescribeLogDirsResponse(
        results=(
            describe_wire.DescribeLogDirsResult(error_code=56, log_dir="/broken"),
            listed("/d1", (A0, False), (A1, False), (B0, True)),
            listed("/d2", (A0, True)),
        )
    )
    assert replica_log_dirs(response) == {
        A0: ReplicaLogDirs(current="/d1", future="/d2"),
        A1: ReplicaLogDirs(current="/d1", future=None),
        B0: ReplicaLogDirs(current=None, future="/d1"),
    }


def test_moves_are_asked_for_by_directory_and_topic() -> None:
    request = alter_request({B0: "/d1", A1: "/d2", A0: "/d2"})
    assert [(d.path, [(t.name, t.partitions) for t in d.topics]) for d in request.dirs] == [
        ("/d2", [("a", (0, 1))]),
        ("/d1", [("b", (0,))]),
    ]


def test_outcomes() -> None:
    results = (
        alter_wire.AlterReplicaLogDirTopicResult(
            topic_name="a",
            partitions=(
                alter_wire.AlterReplicaLogDirPartitionResult(partition_index=0),
                alter_wire.AlterReplicaLogDirPartitionResult(partition_index=1, error_code=9),
            ),
        ),
    )
    response = alter_wire.AlterReplicaLogDirsResponse(results=results)
    assert alter_outcomes(response) == {A0: 0, A1: 9}
