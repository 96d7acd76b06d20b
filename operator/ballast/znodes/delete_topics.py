"""/admin/delete_topics/T, persistent and without data: a topic is to be deleted."""

from ballast.model.topics import check_topic_name

PATH = "/admin/delete_topics"


def path(topic: str) -> str:
    """Return the path of a request for deletion; raises `InvalidTopicName`."""
    check_topic_name(topic)
    return f"{PATH}/{topic}"
