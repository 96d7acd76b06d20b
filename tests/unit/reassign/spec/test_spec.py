from ballast.reassign.spec.spec import Approval, ApprovalPolicy, Execution, MoveOrder, OnStalled
from tests.unit.reassign.builders import TARGETS, spec


def test_defaults_are_those_of_the_resource() -> None:
    execution = Execution()
    assert (execution.max_concurrent_moves_per_broker, execution.max_concurrent_moves) == (5, 100)
    assert (execution.max_concurrent_leader_changes, execution.batch_size) == (250, 500)
    assert execution.order == (MoveOrder.AT_MIN_ISR_FIRST, MoveOrder.SMALLEST_FIRST)
    assert execution.throttle_bytes_per_second is None
    assert execution.progress_deadline_seconds == 1800
    assert execution.on_stalled is OnStalled.PAUSE
    assert Approval().policy is ApprovalPolicy.AUTOMATIC


def test_targets_are_those_of_the_assignments() -> None:
    assert spec().targets == TARGETS
