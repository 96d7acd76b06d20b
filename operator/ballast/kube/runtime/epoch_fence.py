"""Keeps an operator from acting on an object that a later controller epoch has written.

Each status carries the controller epoch of the BrokerSet's cluster that its writer knew. A process
that still sees a lower epoch is an earlier incarnation: it must not act. A cluster that was
recreated begins again with low epochs, so an object that has not been written for `FENCE_S` is
taken over.
"""

import logging
from typing import Final

from ballast.kube.api.resources import ObjectKey
from ballast.reassign.ports import Clock

log = logging.getLogger(__name__)

FENCE_S: Final = 60.0
FENCED_REQUEUE_S: Final = 1.0


class EpochFence:
    """The fence of one object."""

    def __init__(self, key: ObjectKey, clock: Clock) -> None:
        self._key = key
        self._clock = clock
        self._fenced_since: float | None = None

    def blocks(self, written_epoch: int | None, known_epoch: int | None) -> bool:
        """Return whether the object belongs to a later incarnation of the operator.

        ``written_epoch`` is that of the object's status, ``known_epoch`` that of the BrokerSet; an
        epoch of None blocks nothing.
        """
        if written_epoch is None or known_epoch is None or written_epoch <= known_epoch:
            self._fenced_since = None
            return False
        now = self._clock.now()
        if self._fenced_since is None:
            self._fenced_since = now
            log.warning(
                "%s was written in epoch %s, which is later than the known epoch %s: no action",
                self._key,
                written_epoch,
                known_epoch,
            )
        return now - self._fenced_since < FENCE_S
