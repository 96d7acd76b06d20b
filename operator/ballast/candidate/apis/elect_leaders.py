"""ElectLeaders (43), versions 0 to 2: preferred and unclean elections on demand (KIP-460).

Version 0 knows preferred elections only and has no error of the whole request.
The response is deferred until all brokers have acknowledged; what is not when the time is
over is answered with REQUEST_TIMED_OUT, although it was elected.
"""

from collections.abc import Callable, Mapping

from ballast.candidate.active_controller import ActiveController, DeferredResponse
from ballast.controller.errors import RequestRefused
from ballast.controller.machines.elections import ElectionType
from ballast.model.ids import TopicPartition
from ballast.protocol.error_codes import ErrorCode
from ballast.protocol.messages.admin.elect_leaders import (
    ElectLeadersRequest,
    ElectLeadersResponse,
    PartitionResult,
    ReplicaElectionResult,
)

Outcome = tuple[ErrorCode, str | None]


async def answer(
    request: ElectLeadersRequest, version: int, active: ActiveController
) -> ElectLeadersResponse | DeferredResponse:
    """Elect leaders; raises `RequestRefused` for an unknown election type."""
    del version
    try:
        election_type = ElectionType(request.election_type)
    except ValueError:
        raise RequestRefused(
            "INVALID_REQUEST", f"Unknown election type {request.election_type}"
        ) from None
    results = await active.controller.elect_leaders(election_type, _wanted(request))
    if request.topic_partitions is None:
        # Asked for all, Kafka lists only what there was to do.
        results = {
            partition: refusal
            for partition, refusal in results.items()
            if refusal is None or refusal.error != "ELECTION_NOT_NEEDED"
        }
    if all(refusal is not None for refusal in results.values()):
        return _response(results, ErrorCode.NONE)
    mark = active.channels.mark()

    def is_over() -> bool:
        return active.channels.has_passed(mark)

    return DeferredResponse(
        timeout_s=max(0, request.timeout_ms) / 1000,
        is_over=is_over,
        answer=lambda: _response(
            results, ErrorCode.NONE if is_over() else ErrorCode.REQUEST_TIMED_OUT
        ),
    )


def _wanted(request: ElectLeadersRequest) -> list[TopicPartition] | None:
    if request.topic_partitions is None:
        return None
    wanted = (
        TopicPartition(topic.topic, number)
        for topic in request.topic_partitions
        for number in topic.partitions
    )
    return list(dict.fromkeys(wanted))


def _response(
    results: Mapping[TopicPartition, RequestRefused | None], elected: ErrorCode
) -> ElectLeadersResponse:
    def outcome_of(partition: TopicPartition) -> Outcome:
        refusal = results[partition]
        if refusal is not None:
            return ErrorCode[refusal.error], refusal.message
        return elected, elected.message or None

    return ElectLeadersResponse(replica_election_results=_grouped(results, outcome_of))


def _grouped(
    partitions: Mapping[TopicPartition, object] | list[TopicPartition] | tuple[()],
    outcome_of: Callable[[TopicPartition], Outcome],
) -> tuple[ReplicaElectionResult, ...]:
    topics: dict[str, list[PartitionResult]] = {}
    for partition in sorted(partitions):
        error, message = outcome_of(partition)
        topics.setdefault(partition.topic, []).append(
            PartitionResult(
                partition_id=partition.partition, error_code=error, error_message=message
            )
        )
    return tuple(
        ReplicaElectionResult(topic=topic, partition_result=tuple(results))
        for topic, results in topics.items()
    )
