"""When a step that was refused may be tried again. Only this step waits."""

from dataclasses import dataclass
from typing import Final

from ballast.brokersets.names import DIGEST_ANNOTATION
from ballast.brokersets.steps.steps import Apply, Step

FIRST_S: Final = 5.0
MAX_S: Final = 60.0
MAX_DELAYS: Final = 1_000
"""Refused steps that are remembered: with more, the oldest is tried again at once."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Delay:
    """One step that was refused."""

    why: str
    """For people."""
    seconds: float
    """How long it waits; doubles with each refusal."""
    until: float
    """On the caller's clock."""


class StepDelays:
    """The steps of one set that wait."""

    def __init__(self) -> None:
        self._delays: dict[str, Delay] = {}

    def delay_of(self, step: Step, now: float) -> Delay | None:
        """Return the delay of a step that must wait, None when it may be applied."""
        delay = self._delays.get(_key(step))
        return delay if delay is not None and now < delay.until else None

    def refused(self, step: Step, why: str, now: float) -> None:
        """Note that a step was refused."""
        key = _key(step)
        before = self._delays.pop(key, None)
        seconds = FIRST_S if before is None else min(MAX_S, 2 * before.seconds)
        self._delays[key] = Delay(why=why, seconds=seconds, until=now + seconds)
        if len(self._delays) > MAX_DELAYS:
            del self._delays[next(iter(self._delays))]

    def done(self, step: Step) -> None:
        """Note that a step was applied."""
        self._delays.pop(_key(step), None)

    def next_in_s(self, now: float) -> float | None:
        """Return after how many seconds the next step may be tried again; None when none waits."""
        return min((max(0.0, d.until - now) for d in self._delays.values()), default=None)

    def keep_only(self, steps: tuple[Step, ...]) -> None:
        """Forget the steps that are no longer decided."""
        keys = {_key(step) for step in steps}
        self._delays = {key: delay for key, delay in self._delays.items() if key in keys}


def _key(step: Step) -> str:
    """Return what a step is, all of it: another document is another step."""
    if isinstance(step, Apply):
        annotations = step.document["metadata"].get("annotations") or {}
        return f"Apply {step.kind} {step.name} {annotations.get(DIGEST_ANNOTATION)}"
    return repr(step)
