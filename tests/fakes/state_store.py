"""What one reassignment remembers, kept in memory."""

from collections.abc import Mapping

from tests.fakes.crash_point import CrashPoint


class FakeStore:
    """A state store that outlives the process."""

    def __init__(self, crash_point: CrashPoint | None = None) -> None:
        self.document: Mapping[str, object] | None = None
        self.crash_point = crash_point or CrashPoint()

    async def load(self) -> Mapping[str, object] | None:
        return self.document

    async def save(self, document: Mapping[str, object]) -> None:
        self.crash_point.before_effect("save")
        self.document = document
        self.crash_point.after_effect()
