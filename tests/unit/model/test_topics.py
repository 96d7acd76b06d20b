import pytest

from ballast.model.topics import InvalidTopicName, check_topic_name


@pytest.mark.parametrize("name", ["a", "A.b_c-9", "x" * 249, "__consumer_offsets", "..."])
def test_legal(name: str) -> None:
    check_topic_name(name)


@pytest.mark.parametrize(
    "name",
    ["", ".", "..", "x" * 250, "a/b", "../../etc", "a\0b", "a\n", "ä", "%2e%2e", "a b", "a\\b"],
)
def test_illegal(name: str) -> None:
    with pytest.raises(InvalidTopicName):
        check_topic_name(name)
