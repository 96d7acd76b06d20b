"""When a step that was refused may be taken again: it alone waits, the looks go on."""

from dataclasses import dataclass
from typing import Final

from ballast.brokersets.names import DIGEST_ANNOTATION
from ballast.brokersets.steps.steps import Apply, Step

FIRST_S: Final = 5.0
MAX_S: Final = 60.0
MAX_KEPT: Final = 1_000
"""Refused steps that are remembered: with more, the oldest is tried again at once."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Delay:
    """One step that was refused."""

    why: str
    """For people."""
    seconds: float
    """How long it waits; doubles with each refusal."""
    until: float
    """On the clock of who asks."""


class StepDelays:
    """The steps of one set that wait."""

    def __init__(self) -> None:
        self._delays: dict[str, Delay] = {}

    def delay_of(self, step: Step, now: float) -> Delay | None:
        """Return why a step is not to be taken yet, None when it may be."""
        delay = self._delays.get(_key(step))
        return delay if delay is not None and now < delay.until else None

    def refused(self, step: Step, why: str, now: float) -> None:
        """Note that a step was refused."""
        key = _key(step)
        before = self._delays.pop(key, None)
        seconds = FIRST_S if before is None else min(MAX_S, 2 * before.seconds)
        self._delays[key] = Delay(why=why, seconds=seconds, until=now + seconds)
        if len(self._delays) > MAX_KEPT:
            del self._delays[next(iter(self._delays))]

    def done(self, step: Step) -> None:
        """Note that a step was taken."""
        self._delays.pop(_key(step), None)

    def next_in_s(self, now: float) -> float | None:
        """Return after how many seconds the next step may be tried again; None when none waits."""
        return min((max(0.0, d.until - now) for d in self._delays.values()), default=None)

    def keep_only(self, wanted: tuple[Step, ...]) -> None:
        """Forget the steps that are not wanted any more."""
        keys = {_key(step) for step in wanted}
        self._delays = {key: delay for key, delay in self._delays.items() if key in keys}


def _key(step: Step) -> str:
    """Return what a step is, all of it: another document is another step."""
    if isinstance(step, Apply):
        annotations = step.document["metadata"].get("annotations") or {}
        return f"Apply {step.kind} {step.name} {annotations.get(DIGEST_ANNOTATION)}"
    return repr(step)
