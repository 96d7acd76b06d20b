"""``ballast reassign --generate``: what kafka-reassign-partitions 2.8.2 proposes, and its words.

Every topic is assigned from scratch, as if it were created now: its replication factor is that of
its first partition, racks count when all usable brokers have one, and the first broker of each
topic is random (``ReassignPartitionsCommand.generateAssignment``). Current replicas and sizes are
ignored, so nearly all replicas move; plans of ``ballast plan generate`` move fewer.
"""

from collections.abc import Sequence
from random import Random

from ballast.cli.reassign.actions import Say
from ballast.cli.reassign.failures import CommandFailed
from ballast.model.brokers import RegisteredBroker
from ballast.model.ids import TopicPartition
from ballast.model.placement import place_replicas
from ballast.reassign.plan.kafka_json import duplicates, format_reassignment_json
from ballast.reassign.ports import ClusterAdmin, ClusterView

PLACEMENT_BITS = 31


async def generate(
    admin: ClusterAdmin,
    topics: Sequence[str],
    broker_list: str,
    say: Say,
    *,
    is_rack_aware: bool,
    random: Random,
) -> None:
    """Print the topics' assignment as it is, and one over the brokers of the list.

    Brokers that are not there are left out without a word. Raises `CommandFailed`.
    """
    broker_ids = _parse_broker_list(broker_list)
    doubles = duplicates(topics)
    if doubles:
        raise CommandFailed(f"List of topics to reassign contains duplicate entries: {doubles}")
    cluster = await admin.describe_cluster(topics)
    _check_topics(topics, cluster)
    current = {tp: view.replicas for tp, view in cluster.partitions.items()}
    brokers = _usable(cluster, broker_ids, is_rack_aware=is_rack_aware)
    proposed: dict[TopicPartition, tuple[int, ...]] = {}
    for topic in sorted(topics):
        numbers = sorted(tp.partition for tp in current if tp.topic == topic)
        proposed |= _dealt(
            topic, len(numbers), len(current[TopicPartition(topic, numbers[0])]), brokers, random
        )
    say("Current partition replica assignment")
    say(format_reassignment_json(current))
    say("")
    say("Proposed partition reassignment configuration")
    say(format_reassignment_json(proposed))


def _parse_broker_list(broker_list: str) -> tuple[int, ...]:
    broker_ids = []
    for word in broker_list.split(","):
        try:
            broker_ids.append(int(word))
        except ValueError:
            raise CommandFailed(f'For input string: "{word}"') from None
    doubles = duplicates(broker_ids)
    if doubles:
        raise CommandFailed(f"Broker list contains duplicate entries: {doubles}")
    return tuple(broker_ids)


def _check_topics(topics: Sequence[str], cluster: ClusterView) -> None:
    topic_names = {tp.topic for tp in cluster.partitions}
    for topic in topics:
        if topic not in topic_names:
            raise CommandFailed(f"Topic {topic} not found.")


def _usable(
    cluster: ClusterView, broker_ids: Sequence[int], *, is_rack_aware: bool
) -> list[RegisteredBroker]:
    """Return the brokers to deal replicas to; without their racks when these shall not count."""
    brokers = [broker for broker in cluster.brokers if broker.broker_id in broker_ids]
    with_rack = sum(broker.rack is not None for broker in brokers)
    if not is_rack_aware:
        return [RegisteredBroker(broker_id=broker.broker_id, endpoints=()) for broker in brokers]
    if with_rack not in (0, len(brokers)):
        raise CommandFailed(
            "Not all brokers have rack information. Add --disable-rack-aware in command line to "
            "make replica assignment without rack information."
        )
    return brokers


def _dealt(
    topic: str,
    partitions: int,
    replication_factor: int,
    brokers: Sequence[RegisteredBroker],
    random: Random,
) -> dict[TopicPartition, tuple[int, ...]]:
    if replication_factor > len(brokers):
        raise CommandFailed(
            f"Replication factor: {replication_factor} larger than available brokers: "
            f"{len(brokers)}."
        )
    placed = place_replicas(
        brokers,
        partitions,
        replication_factor,
        start_index=random.getrandbits(PLACEMENT_BITS),
        shift=random.getrandbits(PLACEMENT_BITS),
    )
    return {TopicPartition(topic, number): replicas for number, replicas in placed.items()}
