"""Reading fields of a decoded document, so that every error names its field path.

A `Reader` never raises for bad input: it notes the error and returns the default, so that one
reading finds all errors. Everything it accepts has exactly the type asked for.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import TypeVar

from ballast.model.quantity import parse_quantity
from ballast.model.settings.values import INT_MAX

_Choice = TypeVar("_Choice", bound=StrEnum)
MAX_ERRORS = 50
"""More errors than this are not noted: a hostile document gets a bounded answer."""
MAX_INT = INT_MAX


@dataclass(frozen=True, slots=True, kw_only=True)
class FieldError:
    """One thing that is wrong with a document."""

    path: str
    """Where, as a field path: ``spec.plan.assignments[3].replicas[1]``."""
    reason: str
    """What, as a sentence without a full stop."""

    def __str__(self) -> str:
        return f"{self.path}: {self.reason}"


class Errors:
    """The errors found so far, bounded."""

    def __init__(self) -> None:
        self.found: list[FieldError] = []

    @property
    def is_full(self) -> bool:
        """Whether enough errors were found to stop looking."""
        return len(self.found) >= MAX_ERRORS

    def add(self, path: str, reason: str) -> None:
        """Note one error."""
        if not self.is_full:
            self.found.append(FieldError(path=path, reason=reason))


class Reader:
    """One mapping of the document, at a path."""

    def __init__(self, value: object, path: str, errors: Errors, known: Collection[str]) -> None:
        self.path = path
        self.errors = errors
        self._fields: Mapping[object, object] = {}
        if isinstance(value, Mapping):
            self._fields = value
            self._refuse_unknown(known)
        else:
            errors.add(path or "(document)", f"must be a mapping, not {type_name(value)}")

    def _refuse_unknown(self, known: Collection[str]) -> None:
        for name in self._fields:
            if name not in known:
                self.errors.add(join(self.path, show(name)), "unknown field")

    def has(self, name: str) -> bool:
        """Whether the field is there."""
        return name in self._fields

    def raw(self, name: str) -> object:
        """Return the field as it is, or None."""
        return self._fields.get(name)

    def refuse(self, name: str, reason: str) -> None:
        """Note an error of one field."""
        self.errors.add(join(self.path, name), reason)

    def nested(self, name: str, known: Collection[str]) -> "Reader":
        """Return a reader of a mapping; an absent one reads as empty."""
        value = self._fields.get(name, {})
        return Reader(value, join(self.path, name), self.errors, known)

    def string(self, name: str, *, max_length: int = 253, required: bool = False) -> str | None:
        """Return a non-empty string, or None."""
        value = self._fields.get(name)
        if value is None:
            if required or self.has(name):
                self.refuse(name, "is required" if not self.has(name) else "must be a string")
            return None
        if not isinstance(value, str):
            self.refuse(name, f"must be a string, not {type_name(value)}")
        elif not 0 < len(value) <= max_length:
            self.refuse(name, f"must have 1 to {max_length} characters")
        else:
            return value
        return None

    def integer(self, name: str, default: int, *, minimum: int = 0, maximum: int = MAX_INT) -> int:
        """Return an integer within bounds, or the default."""
        if not self.has(name):
            return default
        value = self._fields[name]
        if isinstance(value, bool) or not isinstance(value, int):
            self.refuse(name, f"must be an integer, not {type_name(value)}")
        elif not minimum <= value <= maximum:
            self.refuse(name, f"must be between {minimum} and {maximum}")
        else:
            return value
        return default

    def boolean(self, name: str, default: bool) -> bool:
        value = self._fields.get(name, default)
        if isinstance(value, bool):
            return value
        self.refuse(name, f"must be true or false, not {type_name(value)}")
        return default

    def choice(self, name: str, default: _Choice) -> _Choice:
        """Return a member of the default's enumeration, or the default."""
        value = self._fields.get(name, default)
        return self._member(name, value, type(default), default)

    def choices(self, name: str, default: tuple[_Choice, ...]) -> tuple[_Choice, ...]:
        """Return members of the default's enumeration, none twice; the default has at least one."""
        if not self.has(name):
            return default
        members = tuple(
            self._member(f"{name}[{i}]", value, type(default[0]), default[0])
            for i, value in enumerate(self.sequence(name, max_items=len(type(default[0]))))
        )
        if len(set(members)) != len(members):
            self.refuse(name, "must not name anything twice")
        return members

    def _member(self, name: str, value: object, kind: type[_Choice], default: _Choice) -> _Choice:
        members = list(kind)
        if isinstance(value, str) and value in members:
            return kind(value)
        self.refuse(name, f"must be one of {', '.join(members)}")
        return default

    def quantity(self, name: str, *, minimum: int) -> int | None:
        """Return a quantity in units, at least ``minimum``, or None when absent."""
        if not self.has(name):
            return None
        return self._checked(name, parse_quantity, minimum)

    def _checked(self, name: str, parse: Callable[[object], int], minimum: int) -> int | None:
        try:
            number = parse(self._fields[name])
        except ValueError as error:
            self.refuse(name, str(error))
            return None
        if number < minimum:
            self.refuse(name, f"must be at least {minimum}")
            return None
        return number

    def sequence(self, name: str, *, max_items: int, min_items: int = 0) -> Sequence[object]:
        """Return a list within bounds, or an empty one."""
        value = self._fields.get(name)
        if not isinstance(value, list):
            self.refuse(name, f"must be a list, not {type_name(value)}")
        elif not min_items <= len(value) <= max_items:
            self.refuse(name, f"must have {min_items} to {max_items} items, not {len(value)}")
        else:
            return value
        return ()


def join(path: str, name: str) -> str:
    """Return the path of a field of the mapping at ``path``."""
    return f"{path}.{name}" if path else name


def type_name(value: object) -> str:
    """Return what a user calls the type of a decoded value."""
    if value is None:
        return "null"
    names = {bool: "a boolean", int: "an integer", float: "a number", str: "a string"}
    names.update({list: "a list", dict: "a mapping"})
    return names.get(type(value), type(value).__name__)


def show(value: object) -> str:
    """Return hostile text fit for one line of output: printable, short."""
    text = value if isinstance(value, str) else type_name(value)
    text = text if text.isprintable() else ascii(text)
    return text if len(text) <= 60 else f"{text[:57]}..."
