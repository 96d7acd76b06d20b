from ballast.purgatory.operation import DelayedOperation
from ballast.purgatory.timing_wheel import TimingWheel


class Waiting(DelayedOperation):
    """Done when told so; writes down what happened to it."""

    def __init__(self) -> None:
        super().__init__(timeout_ms=100)
        self.done = False
        self.history: list[str] = []

    def try_complete(self) -> bool:
        return self.done and self.force_complete()

    def on_complete(self) -> None:
        self.history.append("complete")

    def on_expiration(self) -> None:
        self.history.append("expired")


def test_completes_when_the_condition_holds() -> None:
    waiting = Waiting()
    assert not waiting.try_complete()

    waiting.done = True

    assert waiting.try_complete()
    assert waiting.history == ["complete"]


def test_completes_once_whoever_comes_first() -> None:
    waiting = Waiting()
    waiting.expire()
    waiting.expire()

    assert not waiting.force_complete()
    assert waiting.history == ["complete", "expired"]


def test_an_expiry_after_completion_is_not_counted() -> None:
    waiting = Waiting()
    waiting.force_complete()

    waiting.expire()

    assert waiting.history == ["complete"]


def test_completion_cancels_the_timer() -> None:
    waiting = Waiting()
    wheel: TimingWheel[DelayedOperation] = TimingWheel(0)
    timer = wheel.add(waiting, 50)
    assert timer is not None
    waiting.start_timer(timer, lambda _: None)

    waiting.force_complete()

    assert len(wheel) == 0
