"""The identity of this broker, and the epochs that fence old requests of controllers."""

import asyncio

from ballast.model.ids import NO_EPOCH
from ballast.protocol.error_codes import ErrorCode


class Identity:
    """Ids of the broker and of its cluster; the epoch changes with each registration."""

    def __init__(self, broker_id: int) -> None:
        self.broker_id = broker_id
        self.cluster_id = ""
        """Known once ZooKeeper was reached for the first time."""
        self.broker_epoch = NO_EPOCH
        """The czxid of the latest registration (KIP-380); -1 before the first."""
        self.is_registered = False
        """Whether that registration is in force, as far as this broker knows."""
        self.registered_once = asyncio.Event()
        """Set at the first registration. Before it, this broker cannot decide which requests of the
        controller were meant for an earlier process.
        """

    def registered(self, broker_epoch: int) -> None:
        """Set the epoch of a new registration."""
        self.broker_epoch = broker_epoch
        self.is_registered = True
        self.registered_once.set()

    def lost(self) -> None:
        """Record that the session has expired: the controller considers this broker dead."""
        self.is_registered = False


class ControllerFence:
    """Refuses requests of an old controller, and those meant for an earlier registration.

    Kafka 2.8 ``KafkaApis.isBrokerEpochStale`` and the controller epoch check of ReplicaManager
    (KAFKA-1188, KIP-380).
    """

    def __init__(self, identity: Identity) -> None:
        self._identity = identity
        self.controller_epoch = 0
        """The highest epoch in a request."""

    def check(self, controller_epoch: int, broker_epoch: int) -> ErrorCode | None:
        """Return why a request is refused, or None and remember its controller's epoch.

        A broker epoch above this one's is accepted: the controller may know of a registration
        before the broker does. A request without broker epoch is accepted too.
        """
        if self._is_stale(broker_epoch):
            return ErrorCode.STALE_BROKER_EPOCH
        if controller_epoch < self.controller_epoch:
            return ErrorCode.STALE_CONTROLLER_EPOCH
        self.controller_epoch = controller_epoch
        return None

    def _is_stale(self, broker_epoch: int) -> bool:
        if self._identity.is_registered:
            return broker_epoch != NO_EPOCH and broker_epoch < self._identity.broker_epoch
        # The last registration has ended, so its epoch is stale too.
        return broker_epoch <= self._identity.broker_epoch
