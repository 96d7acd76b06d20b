"""Brokers as they register themselves."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Endpoint:
    """One listener's advertised address."""

    host: str
    port: int
    listener_name: str = "PLAINTEXT"
    security_protocol: str = "PLAINTEXT"


@dataclass(frozen=True, slots=True, kw_only=True)
class RegisteredBroker:
    """One registered broker."""

    broker_id: int
    endpoints: tuple[Endpoint, ...]
    rack: str | None = None
    broker_epoch: int = -1
    """The czxid of the broker's registration (KIP-380): larger after each restart."""

    @property
    def endpoint(self) -> Endpoint:
        """The address at which other brokers and controllers reach this one."""
        return self.endpoints[0]
