"""The range of a leader's log, as a follower asks for it."""

import pytest

from ballast.broker.following.leader_range import leader_range
from ballast.net.client.channel import BrokerChannel
from ballast.net.errors import NetError
from tests.unit.broker.broker_cluster import P0, PORT, Cluster, batch, simulate


def test_the_range_of_the_whole_log() -> None:
    async def main(cluster: Cluster) -> None:
        await cluster.start(1)
        await cluster.lead(P0, 1, [1, 2], isr=[1])
        for value in (b"a", b"b", b"c"):
            await cluster.produce(1, P0, batch(value))
        cluster.brokers[1].replicas.partitions[P0].log.raise_log_start_offset(1)
        channel = BrokerChannel("broker-1", PORT)
        assert await leader_range(channel, 2, P0, leader_epoch=0) == (1, 3)
        # The answer of another epoch would be of another log.
        assert await leader_range(channel, 2, P0, leader_epoch=9) is None
        await channel.close()
        with pytest.raises(NetError):
            await leader_range(channel, 2, P0, leader_epoch=0)

    simulate(main)
