from ballast.model.conditions import ConditionStatus, Finding
from ballast.reassign.state.conditions import (
    FINAL_STATUS,
    ConditionType,
    LifecycleState,
    conditions_from_documents,
    updated,
)

FOUND = {ConditionType.VERIFIED: Finding(status=ConditionStatus.TRUE, reason="Verified")}


def test_all_types_of_a_reassignment_are_there_from_the_first_time() -> None:
    assert list(updated({}, {}, generation=1, now_ms=0)) == list(ConditionType)


def test_documents_are_read_back() -> None:
    conditions = updated({}, FOUND, generation=1, now_ms=5)
    documents: list[object] = [c.to_document() for c in conditions.values()]
    assert conditions_from_documents(documents) == conditions


def test_only_completed_is_a_success() -> None:
    succeeded = [s for s, status in FINAL_STATUS.items() if status is ConditionStatus.TRUE]
    assert succeeded == [LifecycleState.COMPLETED]
