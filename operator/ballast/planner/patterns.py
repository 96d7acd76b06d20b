"""Patterns of topic names: regular expressions that any engine matches in polynomial time.

The syntax is the part that RE2 and Python share. A pattern that could take Python exponential time
is refused: a repeated group with a choice or another repetition in it, a reference to a group, a
look-ahead or look-behind. Names have at most 249 characters.

"""

import re
from typing import Final

from ballast.planner.errors import OptionsRejected

MAX_PATTERNS: Final = 32
MAX_PATTERN_LENGTH: Final = 256
MAX_REPETITIONS: Final = 6
"""Unbounded repetitions of one pattern: each may multiply the time by the name's length."""

_TOKEN = re.compile(
    r"(?P<escape>\\.)|(?P<set>\[\^?\]?(?:\\.|[^\]\\])*\])|(?P<open>\((?:\?(?:P?<\w+>|[a-zA-Z]*:?))?)"
    r"|(?P<close>\))|(?P<either>\|)|(?P<repeat>[*+?]|\{(?P<low>\d*)(?P<comma>,?)(?P<high>\d*)\})",
    re.DOTALL,
)
_LOOKS = re.compile(r"\(\?(?:[=!(]|<[=!]|P=|P>|>|#)|\\[1-9]")


def compiled(option: str, patterns: tuple[str, ...]) -> tuple[re.Pattern[str], ...]:
    """Return the compiled patterns. Raises `OptionsRejected`, naming ``option``."""
    if len(patterns) > MAX_PATTERNS:
        raise OptionsRejected(option, f"has more than {MAX_PATTERNS} patterns")
    patterns_compiled = []
    for pattern in patterns:
        if len(pattern) > MAX_PATTERN_LENGTH:
            raise OptionsRejected(option, f"a pattern is over {MAX_PATTERN_LENGTH} characters")
        try:
            patterns_compiled.append(re.compile(pattern))
        except (re.error, OverflowError) as error:
            raise OptionsRejected(
                option, f"{pattern!r} is no regular expression: {error}"
            ) from error
        reason = _too_slow(pattern)
        if reason:
            raise OptionsRejected(option, f"{pattern!r} {reason}")
    return tuple(patterns_compiled)


def _too_slow(pattern: str) -> str | None:
    """Return why a regular expression might take too long; None = it does not."""
    plain = re.sub(r"\\\\", "", pattern)
    if _LOOKS.search(plain):
        return "refers to a group, or looks ahead or behind"
    is_manifold = [False]
    """For each open group: whether it contains a choice or a repetition."""
    closed = False
    """Whether the group that ended last contains a choice or a repetition."""
    endless = 0
    for token in _TOKEN.finditer(pattern):
        kind = token.lastgroup
        if token["repeat"]:
            several = token["repeat"] != "?" and (token["low"], token["high"]) != ("", "1")
            if several and closed and pattern[token.start() - 1] == ")":
                return "repeats a group in which there is a choice or a repetition"
            endless += token["repeat"] in ("*", "+") or bool(token["comma"] and not token["high"])
            if endless > MAX_REPETITIONS:
                return f"has more than {MAX_REPETITIONS} repetitions without an end"
            is_manifold[-1] = True
        elif kind == "open":
            is_manifold.append(False)
        elif kind == "close":
            closed = is_manifold.pop()
            is_manifold[-1] |= closed
        elif kind == "either":
            is_manifold[-1] = True
    return None
