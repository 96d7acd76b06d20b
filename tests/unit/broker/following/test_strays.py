"""Which replicas a broker deletes because the controller's picture does without them."""

from collections.abc import Mapping

import pytest

from ballast.broker.cluster.metadata_cache import PartitionMetadata
from ballast.broker.following.strays import find_strays
from ballast.model.ids import TopicPartition
from tests.unit.broker.broker_cluster import P0, Cluster, simulate


def described(
    replicas: tuple[int, ...], isr: tuple[int, ...], leader_epoch: int
) -> Mapping[TopicPartition, PartitionMetadata]:
    return {P0: PartitionMetadata(leader=2, leader_epoch=leader_epoch, isr=isr, replicas=replicas)}


@pytest.mark.parametrize(
    ("replicas", "isr", "leader_epoch", "is_stray"),
    [
        ((2, 3), (2, 3), 1, True),
        ((2, 3), (2, 3), 0, False),
        ((2, 3), (1, 2), 1, False),
        ((1, 2), (2,), 1, False),
    ],
    ids=["removed", "nothing newer than it knows", "still in the ISR", "a replica"],
)
def test_strays(
    replicas: tuple[int, ...], isr: tuple[int, ...], leader_epoch: int, is_stray: bool
) -> None:
    async def main(cluster: Cluster) -> None:
        await cluster.start(1)
        await cluster.lead(P0, 1, (1, 2))
        manager = cluster.brokers[1].context.replicas
        found = list(find_strays(manager, described(replicas, isr, leader_epoch)))
        assert bool(found) == is_stray
        assert all(stop.delete and stop.name == P0 for stop in found)

    simulate(main)
