"""Lines of generated source, for the generators of encoders and of decoders."""

import itertools
from typing import Any

_INDENT = "    "


class SourceLines:
    """Lines at a depth of indentation, the helpers they call, and the globals they name."""

    def __init__(self, names: dict[str, Any]) -> None:
        self.depth = 0
        self.names = names
        self._lines: list[str] = []
        self._helpers: list[str] = []
        self._numbers = itertools.count()

    def source(self) -> str:
        """Return the helpers, then the lines."""
        return "\n".join((*self._helpers, *self._lines))

    def line(self, text: str) -> None:
        """Write a line at the present depth."""
        self._lines.append(_INDENT * self.depth + text)

    def fresh(self, prefix: str) -> str:
        """Return a name that nothing has yet."""
        return f"{prefix}{next(self._numbers)}"

    def name(self, prefix: str, value: Any) -> str:
        """Make ``value`` a global of the generated function; return its name."""
        name = self.fresh(prefix)
        self.names[name] = value
        return name

    def begin_helper_of(self, outer: "SourceLines") -> None:
        """Take names from the same stock as ``outer``, so that both can stand in one text."""
        self.names = outer.names
        self._numbers = outer._numbers

    def add_helper(self, helper: "SourceLines") -> None:
        """Put a finished helper before the lines."""
        self._helpers.append(helper.source())
