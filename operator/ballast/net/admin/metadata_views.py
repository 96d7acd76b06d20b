"""Metadata of a whole cluster in the form of the admin port, rebuilt only where it has changed."""

from collections.abc import Iterable, Iterator, Mapping

from ballast.model.brokers import Endpoint, RegisteredBroker
from ballast.model.ids import TopicPartition
from ballast.protocol.messages.cluster.metadata import MetadataResponse, MetadataResponseTopic
from ballast.reassign.ports import ClusterView, PartitionView


class MetadataViews:
    """The views of the last response. Views are shared, so their partitions must not be changed."""

    def __init__(self) -> None:
        self._response: MetadataResponse | None = None
        self._view: ClusterView | None = None

    def view_of(self, response: MetadataResponse) -> ClusterView:
        """Return the view of a response that lists all topics."""
        if self._view is None or response is not self._response:
            self._view = cluster_view(response, self._partitions(response))
            self._response = response
        return self._view

    def _partitions(self, response: MetadataResponse) -> Mapping[TopicPartition, PartitionView]:
        known, view = self._response, self._view
        if known is None or view is None or len(known.topics) != len(response.topics):
            return dict(_views_of(response.topics))
        pairs = zip(known.topics, response.topics, strict=True)
        changed = [(before, topic) for before, topic in pairs if before != topic]
        if any(_names(before) != _names(topic) for before, topic in changed):
            return dict(_views_of(response.topics))
        views = dict(_views_of([topic for _, topic in changed]))
        return {**view.partitions, **views} if views else view.partitions


def cluster_view(
    response: MetadataResponse, partitions: Mapping[TopicPartition, PartitionView] | None = None
) -> ClusterView:
    """Return the view of a response; ``partitions`` None = those of the response."""
    return ClusterView(
        cluster_id=response.cluster_id or "",
        controller_id=response.controller_id,
        brokers=tuple(
            RegisteredBroker(
                broker_id=broker.node_id,
                endpoints=(Endpoint(host=broker.host, port=broker.port),),
                rack=broker.rack,
            )
            for broker in sorted(response.brokers, key=lambda broker: broker.node_id)
        ),
        partitions=dict(_views_of(response.topics)) if partitions is None else partitions,
    )


def _names(topic: MetadataResponseTopic) -> tuple[str, list[int]]:
    """Return the partitions of a response."""
    return topic.name, [partition.partition_index for partition in topic.partitions]


def _views_of(
    topics: Iterable[MetadataResponseTopic],
) -> Iterator[tuple[TopicPartition, PartitionView]]:
    for topic in topics:
        for partition in topic.partitions:
            tp = TopicPartition(topic.name, partition.partition_index)
            yield (
                tp,
                PartitionView(
                    topic_partition=tp,
                    leader=partition.leader_id,
                    replicas=partition.replica_nodes,
                    isr=partition.isr_nodes,
                    offline=partition.offline_replicas,
                ),
            )
