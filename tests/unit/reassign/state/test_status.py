import json

from ballast.model.conditions import ConditionStatus, Finding
from ballast.reassign.plan.progress import Progress
from ballast.reassign.state.conditions import ConditionType, updated
from ballast.reassign.state.status import Failure, PlanStatus, Status, ThrottleStatus

FULL = Status(
    observed_generation=4,
    update_time_ms=1_700_000_000_000,
    conditions=updated(
        {},
        {
            kind: Finding(status=ConditionStatus.UNKNOWN, reason="Executing", message="m" * 600)
            for kind in ConditionType
        },
        generation=4,
        now_ms=1_700_000_000_000,
    ),
    plan=PlanStatus(
        digest="sha256:" + "a" * 64,
        rollback_digest="sha256:" + "b" * 64,
        partitions=10,
        replica_moves=9,
        leader_changes=8,
        log_dir_moves=6,
        bytes_to_move=7,
    ),
    progress=Progress(
        pending=5,
        in_progress=2,
        completed=3,
        failed=0,
        skipped=0,
        bytes_moved=1000,
        bytes_remaining=24_540_000,
    ),
    bytes_per_second=1000.4,
    batch=(3, 97),
    throttle=ThrottleStatus(applied_bytes_per_second=5, broker_ids=(1, 2), restored=False),
    failures=[
        Failure(topic="t" * 249, partition=p, reason="TargetBrokerOffline", message="x" * 999)
        for p in range(20)
    ],
    failures_total=500,
    start_time_ms=0,
    completion_time_ms=1000,
)


def test_the_document_of_the_resource() -> None:
    document = FULL.to_document()
    assert document["observedGeneration"] == 4
    assert document["batch"] == {"index": 3, "total": 97}
    assert document["throttle"] == {
        "brokerIds": [1, 2],
        "restored": False,
        "appliedBytesPerSecond": 5,
    }
    assert document["progress"] == {
        "summary": "3/10 (30%)",
        "partitions": {"pending": 5, "inProgress": 2, "completed": 3, "failed": 0, "skipped": 0},
        "bytesMoved": 1000,
        "bytesRemaining": 24_540_000,
        "remaining": "23.4Mi",
        "bytesPerSecond": 1000,
        "eta": "6h48m",
        "updateTime": "2023-11-14T22:13:20Z",
    }
    assert (document["startTime"], document["completionTime"]) == (
        "1970-01-01T00:00:00Z",
        "1970-01-01T00:00:01Z",
    )
    assert document["rollback"] == {"digest": "sha256:" + "b" * 64}


def test_it_is_bounded() -> None:
    assert len(json.dumps(FULL.to_document())) < 8 * 1024
    failures = FULL.to_document()["failures"]
    assert isinstance(failures, list)
    assert 0 < len(failures) < 20


def test_a_status_of_nothing_yet() -> None:
    conditions = updated({}, {}, generation=1, now_ms=0)
    document = Status(observed_generation=1, update_time_ms=0, conditions=conditions).to_document()
    assert set(document) == {"observedGeneration", "failures", "failuresTotal", "conditions"}


def test_the_state_is_the_reason_of_succeeded() -> None:
    assert FULL.state.value == "Executing"
    assert not FULL.is_final
