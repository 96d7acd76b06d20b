import pytest

from ballast.broker.config.properties_file import parse_properties
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
