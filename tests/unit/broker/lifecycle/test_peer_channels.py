"""As whom a broker speaks to others, and for how long it waits."""

from ballast.broker.apis.records.produce import ADMIN_CLIENT_ID
from ballast.broker.lifecycle.peer_channels import PeerChannels
from ballast.model.brokers import Endpoint, RegisteredBroker
from tests.unit.broker.broker_cluster import Cluster, simulate

PEER = RegisteredBroker(broker_id=2, endpoints=(Endpoint(host="broker-2", port=9092),))


def test_each_purpose_has_its_client_id() -> None:
    async def main(cluster: Cluster) -> None:
        channels = PeerChannels(cluster.config(1))
        opened = [channels.fetch(PEER), channels.load(PEER), channels.metadata(PEER)]
        assert {(channel.host, channel.port) for channel in opened} == {("broker-2", 9092)}
        assert [channel.options.client_id for channel in opened] == [
            "broker-1-fetcher-2",
            ADMIN_CLIENT_ID,
            "broker-1",
        ]
        assert [channel.options.request_timeout_s for channel in opened] == [20.0, 7.0, 7.0]
        assert {channel.options.connect_timeout_s for channel in opened} == {3.0}
        assert {channel.options.connect_timeout_max_s for channel in opened} == {9.0}

    simulate(
        main,
        replica_socket_timeout_ms="20000",
        request_timeout_ms="7000",
        socket_connection_setup_timeout_ms="3000",
        socket_connection_setup_timeout_max_ms="9000",
    )
