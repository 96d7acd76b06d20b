import pytest

from ballast.broker.config.properties_file import parse_overrides, parse_properties
from ballast.model.settings.keys import ConfigError


def test_comments_separators_and_joined_lines() -> None:
    text = """
    # comment
    ! another
    a=1
    b : two words
    c = x=y:z
    d=one,\\
      two
    a=last
    empty=
    flag
    """
    assert parse_properties(text) == {
        "a": "last",
        "b": "two words",
        "c": "x=y:z",
        "d": "one,two",
        "empty": "",
        "flag": "",
    }


def test_a_joined_last_line_counts() -> None:
    assert parse_properties("a=1\\") == {"a": "1"}


def test_a_nameless_property_is_refused() -> None:
    with pytest.raises(ConfigError, match="no name"):
        parse_properties("=x")


def test_arguments_are_properties() -> None:
    words = ["num.partitions=3", "listeners=PLAINTEXT://h:1?a=b", "empty=", "num.partitions=4"]
    assert parse_overrides(words) == {
        "num.partitions": "4",
        "listeners": "PLAINTEXT://h:1?a=b",
        "empty": "",
    }


@pytest.mark.parametrize("word", ["num.partitions", "=3", ""])
def test_an_argument_that_is_no_property_is_named(word: str) -> None:
    with pytest.raises(ValueError, match="not NAME=VALUE") as refused:
        parse_overrides(["a=b", word])
    assert repr(word) in str(refused.value)
