from ballast.model.ids import TopicPartition
from ballast.protocol.error_codes import ErrorCode
from ballast.protocol.messages.groups.join_group import JoinGroupRequestProtocol
from ballast.protocol.messages.groups.offset_delete import (
    OffsetDeleteRequest,
    OffsetDeleteRequestPartition,
    OffsetDeleteRequestTopic,
    OffsetDeleteResponse,
)
from tests.unit.broker.broker_cluster import P0, Cluster, simulate
from tests.unit.broker.group_requests import (
    AT_ONCE,
    GROUP,
    commit_request,
    coordinate,
    fetch_offset,
    stable,
)
from tests.unit.coordinator.test_subscriptions import subscription

OTHER = TopicPartition("other", 0)


def request(*names: TopicPartition, group_id: str = GROUP) -> OffsetDeleteRequest:
    return OffsetDeleteRequest(
        group_id=group_id,
        topics=tuple(
            OffsetDeleteRequestTopic(
                name=name.topic,
                partitions=(OffsetDeleteRequestPartition(partition_index=name.partition),),
            )
            for name in names
        ),
    )


def codes(answer: OffsetDeleteResponse) -> list[tuple[str, int, int]]:
    return [
        (topic.name, partition.partition_index, partition.error_code)
        for topic in answer.topics
        for partition in topic.partitions
    ]


def test_offsets_go_one_by_one() -> None:
    async def main(cluster: Cluster) -> None:
        await coordinate(cluster, 1)
        await cluster.lead(OTHER, 1, [1])
        await cluster.ask(1, commit_request({P0: 5, OTHER: 6}), 8)
        answer = await cluster.ask(1, request(P0, TopicPartition("orders", 9)), 0)
        assert answer.error_code == 0
        missing = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
        assert codes(answer) == [("orders", 0, 0), ("orders", 9, missing)]
        assert await fetch_offset(cluster, 1) == (0, -1)

    simulate(main, **AT_ONCE)


def test_an_error_of_the_group_is_the_whole_answer() -> None:
    async def main(cluster: Cluster) -> None:
        await coordinate(cluster, 1)
        await stable(cluster, protocol_type="connect")
        for group_id, code in (
            ("none", ErrorCode.GROUP_ID_NOT_FOUND),
            ("", ErrorCode.INVALID_GROUP_ID),
            (GROUP, ErrorCode.NON_EMPTY_GROUP),
        ):
            answer = await cluster.ask(1, request(P0, group_id=group_id), 0)
            assert (answer.error_code, answer.topics) == (code, ())

    simulate(main, **AT_ONCE)


def test_what_members_read_stays() -> None:
    async def main(cluster: Cluster) -> None:
        await coordinate(cluster, 1)
        await cluster.lead(OTHER, 1, [1])
        protocol = JoinGroupRequestProtocol(name="range", metadata=subscription("orders"))
        await stable(cluster, protocols=(protocol,))
        answer = await cluster.ask(1, request(P0, OTHER), 0)
        read = ErrorCode.GROUP_SUBSCRIBED_TO_TOPIC
        assert codes(answer) == [("orders", 0, read), ("other", 0, 0)]

    simulate(main, **AT_ONCE)
