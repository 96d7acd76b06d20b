from ballast.broker.groups.group_metadata_store import GroupMetadataStore
from ballast.protocol.error_codes import ErrorCode
from ballast.protocol.record_reader import read_records
from tests.unit.broker.broker_cluster import EPOCH_MS, Cluster, simulate
from tests.unit.broker.group_requests import AT_ONCE, OFFSETS_P0, coordinate

RECORDS = [(b"key", b"value"), (b"gone", None)]
TIMEOUT_MS = 500

Outcome = tuple[ErrorCode, int]


def journal(cluster: Cluster) -> tuple[GroupMetadataStore, list[Outcome]]:
    return GroupMetadataStore(cluster.brokers[1].replicas, TIMEOUT_MS), []


def test_a_batch_is_answered_when_every_in_sync_replica_has_it() -> None:
    async def main(cluster: Cluster) -> None:
        await coordinate(cluster, 1, 2)
        journal_, outcomes = journal(cluster)
        for _ in range(2):
            journal_.append(0, RECORDS, lambda *outcome: outcomes.append(outcome))
        assert outcomes == []
        await cluster.until(lambda: len(outcomes) == 2)
        assert outcomes == [(ErrorCode.NONE, 0), (ErrorCode.NONE, 2)]
        follower = cluster.brokers[2].replicas.partitions[OFFSETS_P0].log
        assert follower.log_end_offset == 4
        records = read_records(follower.read(0, max_bytes=1000))
        assert [(record.key, record.value) for record in records] == RECORDS
        assert {record.timestamp_ms >= EPOCH_MS for record in records} == {True}

    simulate(main, **AT_ONCE)


def test_replicas_that_do_not_answer_leave_the_outcome_unknown() -> None:
    async def main(cluster: Cluster) -> None:
        await coordinate(cluster, 1, 2)
        journal_, outcomes = journal(cluster)
        cluster.kill(2)
        journal_.append(0, RECORDS, lambda *outcome: outcomes.append(outcome))
        await cluster.until(lambda: outcomes)
        assert outcomes == [(ErrorCode.REQUEST_TIMED_OUT, 0)]

    simulate(main, **AT_ONCE)


def test_who_does_not_lead_cannot_append() -> None:
    async def main(cluster: Cluster) -> None:
        await coordinate(cluster, 1, 2)
        journal_, outcomes = journal(cluster)
        await cluster.lead(OFFSETS_P0, 2, [1, 2])
        journal_.append(0, RECORDS, lambda *outcome: outcomes.append(outcome))
        journal_.append_unacknowledged(0, RECORDS)
        assert outcomes == [(ErrorCode.NOT_LEADER_OR_FOLLOWER, -1)]

    simulate(main, **AT_ONCE)


def test_tombstones_are_not_waited_for() -> None:
    async def main(cluster: Cluster) -> None:
        await coordinate(cluster, 1)
        journal_, _ = journal(cluster)
        journal_.append_unacknowledged(0, RECORDS)
        assert cluster.brokers[1].replicas.partitions[OFFSETS_P0].log.log_end_offset == 2

    simulate(main, **AT_ONCE)
