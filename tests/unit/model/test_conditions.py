from enum import StrEnum

from ballast.model.conditions import (
    NOT_RECONCILED,
    Condition,
    ConditionStatus,
    Finding,
    conditions_from_documents,
    timestamp,
    updated,
)

HOUR_MS = 3_600_000


class Kind(StrEnum):
    READY = "Ready"
    IN_SYNC = "InSync"


def find(status: ConditionStatus, reason: str) -> dict[Kind, Finding]:
    return {Kind.IN_SYNC: Finding(status=status, reason=reason, message="x" * 999)}


def test_all_types_are_there_from_the_first_time() -> None:
    first = updated(Kind, {}, {}, generation=1, now_ms=0)
    assert list(first) == list(Kind)
    assert {(c.status, c.reason) for c in first.values()} == {
        (NOT_RECONCILED.status, NOT_RECONCILED.reason)
    }


def test_the_transition_time_moves_with_the_status_only() -> None:
    first = updated(Kind, {}, find(ConditionStatus.FALSE, "Behind"), generation=1, now_ms=0)
    other_reason = updated(
        Kind, first, find(ConditionStatus.FALSE, "Down"), generation=2, now_ms=HOUR_MS
    )
    changed = updated(
        Kind, other_reason, find(ConditionStatus.TRUE, "InSync"), generation=2, now_ms=2 * HOUR_MS
    )
    times = [c[Kind.IN_SYNC].last_transition_time for c in (first, other_reason, changed)]
    assert times == ["1970-01-01T00:00:00Z", "1970-01-01T00:00:00Z", "1970-01-01T02:00:00Z"]
    assert other_reason[Kind.IN_SYNC].observed_generation == 2
    assert len(other_reason[Kind.IN_SYNC].message) == 320


def test_what_is_not_found_out_stays() -> None:
    first = updated(Kind, {}, find(ConditionStatus.TRUE, "InSync"), generation=1, now_ms=0)
    second = updated(Kind, first, {}, generation=7, now_ms=HOUR_MS)[Kind.IN_SYNC]
    assert (second.status, second.reason) == (ConditionStatus.TRUE, "InSync")
    assert second.observed_generation == 7


def test_documents_are_read_back_and_rubbish_is_left_out() -> None:
    conditions = updated(Kind, {}, find(ConditionStatus.TRUE, "InSync"), generation=1, now_ms=5)
    documents: list[object] = [c.to_document() for c in conditions.values()]
    assert conditions_from_documents(Kind, documents) == conditions
    first = _first(conditions)
    rubbish: list[object] = [5, {}, {"type": "x"}, {**first, "status": 1}]
    assert conditions_from_documents(Kind, rubbish) == {}
    assert conditions_from_documents(Kind, "rubbish") == {}


def _first(conditions: dict[Kind, Condition]) -> dict[str, object]:
    return conditions[Kind.READY].to_document()


def test_times_as_kubernetes_writes_them() -> None:
    assert timestamp(1_700_000_000_999) == "2023-11-14T22:13:20Z"
