"""Properties as text: the part of Java's format that brokers use, and command line overrides."""

from collections.abc import Mapping, Sequence

from ballast.model.settings.keys import ConfigError


def parse_properties(text: str) -> dict[str, str]:
    r"""Return the properties of a file's text; of two with one name the last is used.

    ``#`` and ``!`` begin a comment, ``\\`` at a line's end joins the next one; name and value are
    separated by ``=`` or ``:``. Escapes within a value are not interpreted. Raises `ConfigError`
    for a line without a name.
    """
    properties: dict[str, str] = {}
    pending = ""
    for line in text.splitlines():
        line = pending + line.strip()  # noqa: PLW2901  a joined line is one line
        pending = ""
        if not line or line[0] in "#!":
            continue
        if line.endswith("\\"):
            pending = line[:-1]
            continue
        name, value = _split(line)
        if not name:
            raise ConfigError(line, "a property has no name")
        properties[name] = value
    if pending:
        name, value = _split(pending)
        properties[name] = value
    return properties


def parse_overrides(overrides: Sequence[str]) -> Mapping[str, str]:
    """Return the properties of the arguments; raises `ValueError`."""
    properties = {}
    for override in overrides:
        name, equals, value = override.partition("=")
        if not equals or not name:
            raise ValueError(f"not NAME=VALUE: {override!r}")
        properties[name] = value
    return properties


def _split(line: str) -> tuple[str, str]:
    position = min((line.index(mark) for mark in "=:" if mark in line), default=len(line))
    return line[:position].strip(), line[position + 1 :].strip()
