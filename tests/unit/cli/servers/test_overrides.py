import pytest

from ballast.cli.servers.overrides import parse_overrides


def test_words_become_properties() -> None:
    words = ["num.partitions=3", "listeners=PLAINTEXT://h:1?a=b", "empty=", "num.partitions=4"]
    assert parse_overrides(words) == {
        "num.partitions": "4",
        "listeners": "PLAINTEXT://h:1?a=b",
        "empty": "",
    }


@pytest.mark.parametrize("word", ["num.partitions", "=3", ""])
def test_anything_else_is_refused_by_name(word: str) -> None:
    with pytest.raises(ValueError, match="not NAME=VALUE") as refused:
        parse_overrides(["a=b", word])
    assert repr(word) in str(refused.value)
