"""What one reassignment remembers, kept in memory."""

from collections.abc import Mapping

from tests.fakes.fuse import Fuse


class FakeStore:
    """A state store that outlives the process."""

    def __init__(self, fuse: Fuse | None = None) -> None:
        self.document: Mapping[str, object] | None = None
        self.fuse = fuse or Fuse()

    async def load(self) -> Mapping[str, object] | None:
        return self.document

    async def save(self, document: Mapping[str, object]) -> None:
        self.fuse.before_effect("save")
        self.document = document
        self.fuse.after_effect()
