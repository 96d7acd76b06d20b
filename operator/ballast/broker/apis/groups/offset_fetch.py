"""OffsetFetch (9), versions 0-7.

Behaviour:
* Answers what is committed, which every in-sync replica has; -1 where nothing is. The group need
  have no members.
* A broker whose session ZooKeeper has ended answers NOT_COORDINATOR until it has registered again:
  another may coordinate the group by now and know of later commits. While ZooKeeper says nothing,
  the broker answers, as Kafka's does: a member then reads some records again at worst.

Version notes:
* v0 read from ZooKeeper; here it does what v1 does.
* v2 null topics ask for all that the group has, and an error is the whole answer's; before that
  each partition has it.
* v5 leader epochs. v7 require_stable: UNSTABLE_OFFSET_COMMIT while a commit is under way (KIP-447).
"""

from collections.abc import Mapping, Sequence

from ballast.broker.apis.context import BrokerContext, RequestInfo
from ballast.coordinator.commits import committed_offset
from ballast.coordinator.group import Group
from ballast.model.ids import TopicPartition
from ballast.protocol.error_codes import ErrorCode
from ballast.protocol.messages.groups.offset_fetch import (
    OffsetFetchRequest,
    OffsetFetchResponse,
    OffsetFetchResponsePartition,
    OffsetFetchResponseTopic,
)


def handle(
    context: BrokerContext, request: OffsetFetchRequest, info: RequestInfo
) -> OffsetFetchResponse:
    """Look the offsets up."""
    coordinator = context.groups.coordinator
    error = coordinator.check(request.group_id, may_be_empty=True)
    if error is ErrorCode.NONE and not context.identity.is_registered:
        error = ErrorCode.NOT_COORDINATOR
    group = coordinator.group(request.group_id)
    asked = _asked(request, None if error else group)
    if error is not ErrorCode.NONE:
        return _refusal(asked if info.version < 2 else {}, error)
    return OffsetFetchResponse(
        topics=tuple(
            OffsetFetchResponseTopic(
                name=topic,
                partitions=tuple(
                    _partition(group, TopicPartition(topic, number), request.require_stable)
                    for number in numbers
                ),
            )
            for topic, numbers in asked.items()
        )
    )


def _asked(request: OffsetFetchRequest, group: Group | None) -> Mapping[str, Sequence[int]]:
    asked: dict[str, list[int]] = {}
    if request.topics is not None:
        for topic in request.topics:
            asked.setdefault(topic.name, []).extend(topic.partition_indexes)
    elif group is not None:
        for name in sorted(group.offsets.committed):
            asked.setdefault(name.topic, []).append(name.partition)
    return asked


def _partition(
    group: Group | None, name: TopicPartition, require_stable: bool
) -> OffsetFetchResponsePartition:
    error, committed = committed_offset(group, name, require_stable=require_stable)
    if committed is None:
        return OffsetFetchResponsePartition(
            partition_index=name.partition, committed_offset=-1, error_code=error
        )
    return OffsetFetchResponsePartition(
        partition_index=name.partition,
        committed_offset=committed.offset,
        committed_leader_epoch=committed.leader_epoch,
        metadata=committed.metadata,
    )


def _refusal(asked: Mapping[str, Sequence[int]], error: ErrorCode) -> OffsetFetchResponse:
    return OffsetFetchResponse(
        error_code=error,
        topics=tuple(
            OffsetFetchResponseTopic(
                name=topic,
                partitions=tuple(
                    OffsetFetchResponsePartition(
                        partition_index=number, committed_offset=-1, error_code=error
                    )
                    for number in numbers
                ),
            )
            for topic, numbers in asked.items()
        ),
    )
