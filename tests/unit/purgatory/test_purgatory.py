import pytest

from ballast.purgatory.operation import DelayedOperation
from ballast.purgatory.purgatory import Purgatory


class Condition:
    """Something that comes true."""

    def __init__(self) -> None:
        self.holds = False


class Waiting(DelayedOperation):
    """Waits for a condition; writes its name down when it ends."""

    def __init__(
        self, name: str, condition: Condition, ended: list[str], timeout_ms: int = 100
    ) -> None:
        super().__init__(timeout_ms)
        self.name = name
        self.condition = condition
        self.ended = ended
        self.tries = 0

    def try_complete(self) -> bool:
        self.tries += 1
        return self.condition.holds and self.force_complete()

    def on_complete(self) -> None:
        self.ended.append(self.name)

    def on_expiration(self) -> None:
        self.ended.append(f"{self.name} expired")


@pytest.fixture
def condition() -> Condition:
    return Condition()


@pytest.fixture
def ended() -> list[str]:
    return []


def test_what_can_be_completed_at_once_is_not_held(condition: Condition, ended: list[str]) -> None:
    purgatory: Purgatory[str] = Purgatory(0.0)
    condition.holds = True

    assert purgatory.try_complete_else_watch(Waiting("a", condition, ended), ["t-0"], 0.0)

    assert ended == ["a"]
    assert (purgatory.delayed_count, purgatory.watched_count) == (0, 0)


def test_a_change_of_a_key_completes_those_that_watch_it_in_order(
    condition: Condition, ended: list[str]
) -> None:
    purgatory: Purgatory[str] = Purgatory(0.0)
    for name in ("a", "b"):
        purgatory.try_complete_else_watch(Waiting(name, condition, ended), ["t-0", "t-1"], 0.0)
    assert purgatory.check_and_complete("t-0") == 0

    condition.holds = True

    assert purgatory.check_and_complete("t-2") == 0
    assert purgatory.check_and_complete("t-1") == 2
    assert purgatory.check_and_complete("t-0") == 0
    assert ended == ["a", "b"]
    assert purgatory.next_expiry() is None


def test_time_ends_what_is_not_completed(condition: Condition, ended: list[str]) -> None:
    purgatory: Purgatory[str] = Purgatory(5.0)
    purgatory.try_complete_else_watch(Waiting("late", condition, ended, 500), ["t"], 5.0)
    purgatory.try_complete_else_watch(Waiting("soon", condition, ended, 10), ["t"], 5.0)

    assert purgatory.advance(5.009) == 0
    assert purgatory.next_expiry() == 5.01
    assert purgatory.advance(5.01) == 1
    assert purgatory.advance(5.6) == 1
    assert ended == ["soon", "soon expired", "late", "late expired"]


def test_no_time_to_wait_ends_at_once(condition: Condition, ended: list[str]) -> None:
    purgatory: Purgatory[str] = Purgatory(5.0)

    assert purgatory.try_complete_else_watch(Waiting("a", condition, ended, 0), ["t"], 5.0)

    assert ended == ["a", "a expired"]


def test_what_is_known_not_to_hold_is_not_tried_again(
    condition: Condition, ended: list[str]
) -> None:
    purgatory: Purgatory[str] = Purgatory(0.0)
    condition.holds = True
    operation = Waiting("a", condition, ended)
    assert not purgatory.watch(operation, ["t"], 0.0)
    assert not ended
    purgatory.check_and_complete("t")
    assert ended == ["a"]
    assert purgatory.next_expiry() is None


def test_what_is_cancelled_ends_without_a_word_and_leaves_nothing(
    condition: Condition, ended: list[str]
) -> None:
    purgatory: Purgatory[str] = Purgatory(0.0, purge_interval=10)
    operations = [Waiting(str(number), condition, ended) for number in range(25)]
    for operation in operations:
        purgatory.try_complete_else_watch(operation, ["t", f"u{operation.name}"], 0.0)
    assert all(operation.cancel() for operation in operations[1:])

    assert (purgatory.delayed_count, purgatory.watched_count) == (1, 2)
    assert not operations[1].cancel()
    assert not operations[1].force_complete()
    assert purgatory.advance(1.0) == 1
    assert ended == ["0", "0 expired"]
    assert not operations[0].cancel()


def test_one_that_is_cancelled_while_its_key_is_tried_is_passed_over(
    condition: Condition, ended: list[str]
) -> None:
    purgatory: Purgatory[str] = Purgatory(0.0)
    second = Waiting("second", condition, ended)

    class Cancelling(Waiting):
        def on_complete(self) -> None:
            super().on_complete()
            second.cancel()

    for operation in (Cancelling("first", condition, ended), second):
        purgatory.try_complete_else_watch(operation, ["t"], 0.0)
    condition.holds = True

    assert purgatory.check_and_complete("t") == 1
    assert ended == ["first"]
    assert (purgatory.delayed_count, purgatory.watched_count) == (0, 0)


def test_completed_operations_are_swept_out_of_watch_lists(
    condition: Condition, ended: list[str]
) -> None:
    purgatory: Purgatory[str] = Purgatory(0.0, purge_interval=10)
    for number in range(25):
        operation = Waiting(str(number), condition, ended)
        purgatory.try_complete_else_watch(operation, ["t", "u"], 0.0)
        operation.force_complete()

    assert purgatory.watched_count <= 2 * 11


def test_an_earlier_expiry_is_announced(condition: Condition, ended: list[str]) -> None:
    announced: list[float | None] = []
    purgatory: Purgatory[str] = Purgatory(
        0.0, on_earlier_expiry=lambda: announced.append(purgatory.next_expiry())
    )
    for timeout_ms in (10, 15, 5):
        purgatory.try_complete_else_watch(Waiting("a", condition, ended, timeout_ms), ["t"], 0.0)

    assert announced == [0.01, 0.005]


def test_completion_may_call_back_into_the_purgatory(
    condition: Condition, ended: list[str]
) -> None:
    purgatory: Purgatory[str] = Purgatory(0.0)

    class Chained(Waiting):
        def on_complete(self) -> None:
            super().on_complete()
            purgatory.check_and_complete("t")
            again = Waiting(f"{self.name} again", Condition(), ended)
            purgatory.try_complete_else_watch(again, ["t"], 0.0)

    purgatory.try_complete_else_watch(Chained("a", condition, ended), ["t"], 0.0)
    purgatory.try_complete_else_watch(Waiting("b", condition, ended), ["t"], 0.0)
    condition.holds = True

    purgatory.check_and_complete("t")

    assert ended == ["a", "b"]
    assert purgatory.delayed_count == 1


def test_shutting_down_answers_everything(condition: Condition, ended: list[str]) -> None:
    purgatory: Purgatory[str] = Purgatory(0.0)
    purgatory.try_complete_else_watch(Waiting("a", condition, ended), ["t"], 0.0)
    purgatory.try_complete_else_watch(Waiting("b", condition, ended), [], 0.0)

    purgatory.shut_down()

    assert ended == ["a", "a expired", "b", "b expired"]
    assert (purgatory.delayed_count, purgatory.watched_count) == (0, 0)
