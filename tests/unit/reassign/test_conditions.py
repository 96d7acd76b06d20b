from ballast.reassign.conditions import (
    NOT_RECONCILED,
    Condition,
    ConditionStatus,
    ConditionType,
    Finding,
    conditions_from_documents,
    timestamp,
    updated,
)

HOUR_MS = 3_600_000


def find(status: ConditionStatus, reason: str) -> dict[ConditionType, Finding]:
    return {ConditionType.VERIFIED: Finding(status=status, reason=reason, message="x" * 999)}


def test_all_types_are_there_from_the_first_time() -> None:
    first = updated({}, {}, generation=1, now_ms=0)
    assert list(first) == list(ConditionType)
    assert {(c.status, c.reason) for c in first.values()} == {
        (NOT_RECONCILED.status, NOT_RECONCILED.reason)
    }


def test_the_transition_time_moves_with_the_status_only() -> None:
    first = updated({}, find(ConditionStatus.FALSE, "Verifying"), generation=1, now_ms=0)
    other_reason = updated(
        first, find(ConditionStatus.FALSE, "ThrottleDebt"), generation=2, now_ms=HOUR_MS
    )
    changed = updated(
        other_reason, find(ConditionStatus.TRUE, "Verified"), generation=2, now_ms=2 * HOUR_MS
    )
    times = [c[ConditionType.VERIFIED].last_transition_time for c in (first, other_reason, changed)]
    assert times == ["1970-01-01T00:00:00Z", "1970-01-01T00:00:00Z", "1970-01-01T02:00:00Z"]
    assert other_reason[ConditionType.VERIFIED].observed_generation == 2
    assert len(other_reason[ConditionType.VERIFIED].message) == 320


def test_what_is_not_found_out_stays() -> None:
    first = updated({}, find(ConditionStatus.TRUE, "Verified"), generation=1, now_ms=0)
    second = updated(first, {}, generation=7, now_ms=HOUR_MS)
    verified = second[ConditionType.VERIFIED]
    assert (verified.status, verified.reason) == (ConditionStatus.TRUE, "Verified")
    assert verified.observed_generation == 7


def test_documents_are_read_back_and_rubbish_is_left_out() -> None:
    conditions = updated({}, find(ConditionStatus.TRUE, "Verified"), generation=1, now_ms=5)
    documents: list[object] = [c.to_document() for c in conditions.values()]
    assert conditions_from_documents(documents) == conditions
    assert (
        conditions_from_documents([5, {}, {"type": "x"}, {**_first(conditions), "status": 1}]) == {}
    )
    assert conditions_from_documents("rubbish") == {}


def _first(conditions: dict[ConditionType, Condition]) -> dict[str, object]:
    return conditions[ConditionType.ACCEPTED].to_document()


def test_times_as_kubernetes_writes_them() -> None:
    assert timestamp(1_700_000_000_999) == "2023-11-14T22:13:20Z"
