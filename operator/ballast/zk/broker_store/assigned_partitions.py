"""The partitions that are assigned to one broker, and who of their replicas may be in sync."""

import logging
from collections.abc import Mapping
from dataclasses import dataclass

from ballast.model.ids import TopicPartition
from ballast.zk import lost_replies
from ballast.zk.client import ZooKeeperClient
from ballast.znodes import partition_states, topics
from ballast.znodes.errors import ZnodeError

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class AssignedPartition:
    """One partition that has been led at some time."""

    replicas: tuple[int, ...]
    isr: tuple[int, ...]
    """All replicas where the state cannot be read: any of them may be in sync."""


async def read(
    client: ZooKeeperClient, broker_id: int
) -> Mapping[TopicPartition, AssignedPartition]:
    """Return the broker's partitions as they are after all earlier calls, those with a state.

    A topic that cannot be read is left out, as the controller leaves it out.
    """
    await lost_replies.settle(client)
    replicas = await _replicas(client, broker_id)
    paths = partition_states.paths(replicas)
    nodes = await lost_replies.repeat(client, lambda: client.multi_read(paths)) if paths else []
    found: dict[TopicPartition, AssignedPartition] = {}
    for (name, assigned), node in zip(replicas.items(), nodes, strict=True):
        if node is None:
            continue
        data, stat = node
        try:
            isr = partition_states.decode(name, data, stat.version).isr
        except ZnodeError as error:
            _log.warning("any replica of %s may be in sync: %s", name, error)
            isr = assigned
        found[name] = AssignedPartition(replicas=assigned, isr=isr)
    return found


async def _replicas(
    client: ZooKeeperClient, broker_id: int
) -> Mapping[TopicPartition, tuple[int, ...]]:
    """Return the replicas of those partitions that have one on the broker."""
    children = await lost_replies.repeat(client, lambda: client.children(topics.PATH))
    names = [name for name in children if topics.is_topic_name(name)]
    paths = [topics.path(name) for name in names]
    nodes = await lost_replies.repeat(client, lambda: client.multi_read(paths)) if paths else []
    found: dict[TopicPartition, tuple[int, ...]] = {}
    for name, node in zip(names, nodes, strict=True):
        if node is None:
            continue
        data, stat = node
        try:
            topic = topics.decode(name, data, stat.version)
        except ZnodeError as error:
            _log.warning("the replicas of topic %s on this broker are unknown: %s", name, error)
            continue
        for number, assignment in topic.partitions.items():
            if broker_id in assignment.replicas:
                found[TopicPartition(name, number)] = assignment.replicas
    return found
