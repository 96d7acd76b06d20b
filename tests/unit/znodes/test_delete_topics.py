import pytest

from ballast.model.topics import InvalidTopicName
from ballast.znodes import delete_topics


def test_paths() -> None:
    assert delete_topics.path("t") == "/admin/delete_topics/t"
    with pytest.raises(InvalidTopicName):
        delete_topics.path("..")
