"""Connections from this broker to others, one request at a time each."""

from ballast.broker.apis.records.produce import ADMIN_CLIENT_ID
from ballast.broker.config.config import BrokerConfig
from ballast.model.brokers import RegisteredBroker
from ballast.net.client.channel import BrokerChannel, ChannelOptions


class PeerChannels:
    """Opens channels; the caller closes them."""

    def __init__(self, config: BrokerConfig) -> None:
        self._config = config

    def fetch(self, leader: RegisteredBroker) -> BrokerChannel:
        """Return a channel for following ``leader``."""
        name = f"broker-{self._config.broker_id}-fetcher-{leader.broker_id}"
        return self._channel(leader, name, self._config.replica_socket_timeout_ms)

    def load(self, leader: RegisteredBroker) -> BrokerChannel:
        """Return a channel that may write to internal topics."""
        return self._channel(leader, ADMIN_CLIENT_ID, self._config.request_timeout_ms)

    def metadata(self, peer: RegisteredBroker) -> BrokerChannel:
        """Return a channel for requesting the metadata of ``peer``."""
        name = f"broker-{self._config.broker_id}"
        return self._channel(peer, name, self._config.request_timeout_ms)

    def _channel(self, peer: RegisteredBroker, client_id: str, timeout_ms: int) -> BrokerChannel:
        return BrokerChannel(
            peer.endpoint.host,
            peer.endpoint.port,
            ChannelOptions(
                client_id=client_id,
                max_in_flight=1,
                request_timeout_s=timeout_ms / 1000,
                connect_timeout_s=self._config.connection_setup_timeout_ms / 1000,
                connect_timeout_max_s=self._config.connection_setup_timeout_max_ms / 1000,
            ),
        )
