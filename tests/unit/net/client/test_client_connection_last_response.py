"""Equal bytes are the same answer."""

import pytest

from ballast.net.client.client_connection import LastResponse
from ballast.protocol.errors import DecodeError
from ballast.protocol.frames import encode_response
from ballast.protocol.messages.cluster.metadata import MetadataResponse, MetadataResponseTopic

VERSION = 9


def frame(correlation_id: int, *topics: str) -> memoryview:
    named = tuple(MetadataResponseTopic(name=name) for name in topics)
    response = MetadataResponse(cluster_id="c", topics=named)
    return memoryview(bytes(encode_response(correlation_id, response, VERSION)))[4:]


def test_an_answer_that_is_the_same_is_the_same_object() -> None:
    last = LastResponse()
    first = last.decode(MetadataResponse, VERSION, frame(1, "a"))
    assert last.decode(MetadataResponse, VERSION, frame(2, "a")) is first
    assert [topic.name for topic in first.topics] == ["a"]


def test_another_answer_is_decoded() -> None:
    last = LastResponse()
    last.decode(MetadataResponse, VERSION, frame(1, "a"))
    second = last.decode(MetadataResponse, VERSION, frame(2, "b"))
    assert [topic.name for topic in second.topics] == ["b"]


def test_an_answer_that_cannot_be_read_is_not_remembered() -> None:
    last = LastResponse()
    first = last.decode(MetadataResponse, VERSION, frame(1, "a"))
    for _ in range(2):
        with pytest.raises(DecodeError):
            last.decode(MetadataResponse, VERSION, frame(2, "a")[:-3])
    assert last.decode(MetadataResponse, VERSION, frame(3, "a")) is first
