import pytest

from ballast.planner.errors import OptionsRejected
from ballast.planner.patterns import MAX_PATTERN_LENGTH, compiled


@pytest.mark.parametrize(
    ("pattern", "name", "is_found"),
    [
        ("^a.*z$", "a-to-z", True),
        ("(orders|payments)-", "x.orders-1", True),
        ("(?i)ORDERS", "my-orders", True),
        ("^(?:ab)+$", "ababab", True),
        ("^(?P<team>x{2,3})\\.", "xxx.t", True),
        (r"\.[0-9]+$", "a.b", False),
        ("[()|*]", "plain", False),
        ("a{2}", "aa", True),
    ],
)
def test_patterns_are_looked_for_anywhere(pattern: str, name: str, *, is_found: bool) -> None:
    (found,) = compiled("topics.include", (pattern,))
    assert bool(found.search(name)) is is_found


@pytest.mark.parametrize(
    ("pattern", "reason"),
    [
        ("(a+)+$", "repeats a group"),
        ("(a|a)*$", "repeats a group"),
        ("((a?)b){2,}", "repeats a group"),
        ("(?:x*y){3}", "repeats a group"),
        (r"(a)\1", "refers to a group"),
        ("(?=a)", "refers to a group"),
        ("(?<!a)b", "refers to a group"),
        ("a*" * 7, "more than 6 repetitions"),
        ("(", "is no regular expression"),
        ("a" * (MAX_PATTERN_LENGTH + 1), "is over 256 characters"),
    ],
)
def test_what_might_take_too_long_is_refused(pattern: str, reason: str) -> None:
    with pytest.raises(OptionsRejected, match=f"^topics.exclude: .*{reason}"):
        compiled("topics.exclude", (pattern,))


def test_there_are_few_patterns() -> None:
    with pytest.raises(OptionsRejected, match="more than 32 patterns"):
        compiled("topics.include", ("a",) * 33)
