"""LeaderAndIsr (4), versions 0-5, from the controller.

Behaviour:
* A stale controller or broker epoch refuses the whole request (see `update_metadata`).
* Per partition: an illegal topic name is INVALID_TOPIC_EXCEPTION and never reaches the disk; not
  being a replica is UNKNOWN_TOPIC_OR_PARTITION; another topic id is INCONSISTENT_TOPIC_ID; a leader
  epoch that is not above the replica's is STALE_CONTROLLER_EPOCH; a disk that fails or has failed
  is KAFKA_STORAGE_ERROR, before the epoch is looked at.
* The configs of topics that are new here are read before their logs are made.

Version notes:
* v0-1 list partitions with their topic, v2 groups them and carries the broker epoch (KIP-380), v3
  adding and removing replicas (KIP-455), v5 topic ids, by which its answer is grouped too.
"""

from collections.abc import Iterator
from uuid import UUID

from ballast.broker.apis.context import BrokerContext, RequestInfo
from ballast.broker.following.replica_roles import LeadershipChange
from ballast.model.assignments import ReplicaAssignment
from ballast.model.brokers import Endpoint, RegisteredBroker
from ballast.model.ids import TopicPartition
from ballast.model.leadership import LeaderAndIsr
from ballast.model.topics import InvalidTopicName, check_topic_name
from ballast.protocol.error_codes import ErrorCode
from ballast.protocol.messages.control.leader_and_isr import (
    LeaderAndIsrPartitionError,
    LeaderAndIsrPartitionState,
    LeaderAndIsrRequest,
    LeaderAndIsrResponse,
    LeaderAndIsrTopicError,
)


async def handle(
    context: BrokerContext, request: LeaderAndIsrRequest, info: RequestInfo
) -> LeaderAndIsrResponse:
    """Give the replicas named their roles."""
    changes = list(_changes(request, info.version))
    fence = context.replicas.fence
    fenced = fence.check(request.controller_epoch, request.broker_epoch)
    if fenced is None:
        await context.config_watcher.learn(
            {c.name.topic for c in changes if _is_legal(c.name.topic)}
        )
        # Another controller, or another registration, may have come up meanwhile.
        fenced = fence.check(request.controller_epoch, request.broker_epoch)
    if fenced is not None:
        return LeaderAndIsrResponse(error_code=fenced)
    live_leaders = {
        leader.broker_id: RegisteredBroker(
            broker_id=leader.broker_id,
            endpoints=(Endpoint(host=leader.host_name, port=leader.port),),
        )
        for leader in request.live_leaders
    }
    outcomes = context.replica_roles.become_leader_or_follower(changes, live_leaders)
    return _response(changes, outcomes, info.version)


def _is_legal(topic: str) -> bool:
    try:
        check_topic_name(topic)
    except InvalidTopicName:
        return False
    return True


def _changes(request: LeaderAndIsrRequest, version: int) -> Iterator[LeadershipChange]:
    if version < 2:
        for state in request.ungrouped_partition_states:
            yield _change(state.topic_name, None, state)
        return
    for topic in request.topic_states:
        topic_id = topic.topic_id if topic.topic_id.int else None
        for state in topic.partition_states:
            yield _change(topic.topic_name, topic_id, state)


def _change(
    topic: str, topic_id: UUID | None, state: LeaderAndIsrPartitionState
) -> LeadershipChange:
    return LeadershipChange(
        name=TopicPartition(topic, state.partition_index),
        topic_id=topic_id,
        state=LeaderAndIsr(
            leader=state.leader,
            leader_epoch=state.leader_epoch,
            isr=tuple(state.isr),
            controller_epoch=state.controller_epoch,
            zk_version=state.zk_version,
        ),
        assignment=ReplicaAssignment(
            replicas=tuple(state.replicas),
            adding_replicas=tuple(state.adding_replicas),
            removing_replicas=tuple(state.removing_replicas),
        ),
        is_new=state.is_new,
    )


def _response(
    changes: list[LeadershipChange], outcomes: dict[TopicPartition, ErrorCode], version: int
) -> LeaderAndIsrResponse:
    if version < 5:
        return LeaderAndIsrResponse(
            partition_errors=tuple(
                LeaderAndIsrPartitionError(
                    topic_name=name.topic, partition_index=name.partition, error_code=code
                )
                for name, code in outcomes.items()
            )
        )
    topic_ids = {change.name.topic: change.topic_id or UUID(int=0) for change in changes}
    by_topic: dict[str, list[LeaderAndIsrPartitionError]] = {}
    for name, code in outcomes.items():
        by_topic.setdefault(name.topic, []).append(
            LeaderAndIsrPartitionError(partition_index=name.partition, error_code=code)
        )
    return LeaderAndIsrResponse(
        topics=tuple(
            LeaderAndIsrTopicError(topic_id=topic_ids[topic], partition_errors=tuple(errors))
            for topic, errors in by_topic.items()
        )
    )
