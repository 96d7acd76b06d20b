"""Who this broker is, and whose word it takes: epochs of its registration and of the controller."""

import asyncio

from ballast.model.ids import NO_EPOCH
from ballast.protocol.error_codes import ErrorCode


class Identity:
    """Ids of the broker and of its cluster; the epoch changes with each ZooKeeper session."""

    def __init__(self, broker_id: int) -> None:
        self.broker_id = broker_id
        self.cluster_id = ""
        """Known once ZooKeeper was reached for the first time."""
        self.broker_epoch = NO_EPOCH
        """The czxid of the latest registration (KIP-380); -1 before the first."""
        self.is_registered = False
        """Whether that registration is in force, as far as ZooKeeper has told this broker."""
        self.registered_once = asyncio.Event()
        """Set at the first registration: before it, nothing tells which commands of the controller
        were meant for the process before this one."""

    def registered(self, broker_epoch: int) -> None:
        """Take up the epoch of a new registration."""
        self.broker_epoch = broker_epoch
        self.is_registered = True
        self.registered_once.set()

    def lost(self) -> None:
        """Note that ZooKeeper has ended the session: others take this broker for dead now."""
        self.is_registered = False


class ControllerFence:
    """Refuses what a deposed controller sends, and what was meant for an earlier registration.

    Kafka 2.8 ``KafkaApis.isBrokerEpochStale`` and the controller epoch check of ReplicaManager
    (KAFKA-1188, KIP-380).
    """

    def __init__(self, identity: Identity) -> None:
        self._identity = identity
        self.controller_epoch = 0
        """The highest seen."""

    def check(self, controller_epoch: int, broker_epoch: int) -> ErrorCode | None:
        """Return why a request is refused, or None and remember its controller's epoch.

        A broker epoch above this one's is accepted: a controller may learn of a registration
        before the broker does. One that is not stated is accepted too.
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
        # The last registration has ended, so its very epoch is stale as well.
        return broker_epoch <= self._identity.broker_epoch
