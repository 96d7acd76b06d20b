"""``NAME=VALUE`` arguments of the command line."""

from collections.abc import Mapping, Sequence


def parse_overrides(overrides: Sequence[str]) -> Mapping[str, str]:
    """Return the properties of the arguments; raises `ValueError`."""
    properties = {}
    for override in overrides:
        name, equals, value = override.partition("=")
        if not equals or not name:
            raise ValueError(f"not NAME=VALUE: {override!r}")
        properties[name] = value
    return properties
