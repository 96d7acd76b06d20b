"""A view of Metadata is the same whether it is built from scratch or from the last one."""

from collections.abc import Mapping

import pytest

from ballast.net.admin.metadata_views import MetadataViews, cluster_view
from ballast.protocol.messages.cluster.metadata import (
    MetadataResponse,
    MetadataResponseBroker,
    MetadataResponsePartition,
    MetadataResponseTopic,
)


def response(topics: Mapping[str, Mapping[int, int]], *brokers: int) -> MetadataResponse:
    """Return an answer; ``topics`` gives each partition its leader."""
    return MetadataResponse(
        cluster_id="c",
        controller_id=1,
        brokers=tuple(MetadataResponseBroker(node_id=number) for number in brokers),
        topics=tuple(
            MetadataResponseTopic(
                name=name,
                partitions=tuple(
                    MetadataResponsePartition(partition_index=number, leader_id=leader)
                    for number, leader in partitions.items()
                ),
            )
            for name, partitions in topics.items()
        ),
    )


BEFORE = {"a": {0: 1, 1: 2}, "b": {0: 1}}


@pytest.mark.parametrize(
    "after",
    [
        BEFORE,
        {"a": {0: 1, 1: 3}, "b": {0: 1}},
        {"a": {0: 1, 1: 2, 2: 3}, "b": {0: 1}},
        {"a": {0: 1}, "b": {0: 1}},
        {"a": {0: 1, 1: 2}},
        {"a": {0: 1, 1: 2}, "c": {0: 1}},
        {"b": {0: 1}, "a": {0: 1, 1: 2}},
    ],
    ids=["same", "leader", "more", "fewer", "deleted", "another", "order"],
)
def test_the_view_is_what_the_answer_says(after: Mapping[str, Mapping[int, int]]) -> None:
    views = MetadataViews()
    views.view_of(response(BEFORE, 1, 2))
    second = response(after, 2)
    seen, anew = views.view_of(second), cluster_view(second)
    assert seen == anew
    assert list(seen.partitions) == list(anew.partitions)


def test_an_answer_that_is_the_same_has_the_same_view() -> None:
    views, answer = MetadataViews(), response(BEFORE, 1, 2)
    assert views.view_of(answer) is views.view_of(answer)


def test_what_is_told_of_a_topic_that_has_not_changed_stays() -> None:
    views = MetadataViews()
    before = views.view_of(response(BEFORE, 1)).partitions
    after = views.view_of(response({"a": {0: 1, 1: 3}, "b": {0: 1}}, 1)).partitions
    kept = [tp for tp in before if before[tp] is after[tp]]
    assert [tp.topic for tp in kept] == ["b"]
