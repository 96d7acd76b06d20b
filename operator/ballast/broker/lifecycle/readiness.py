"""What the broker's probes report: whether it serves clients, and whether its state is current.

The two differ when ZooKeeper is unreachable: the broker keeps serving what it leads (see
`produce`), and removing its pod from services would stop what still works. But it may not know the
present leaders.
"""

from ballast.broker.cluster.identity import Identity
from ballast.broker.lifecycle.registration import Registration


class Readiness:
    """Each method returns the reason why not, or None."""

    def __init__(self, identity: Identity, registration: Registration) -> None:
        self._identity = identity
        self._registration = registration
        self.is_stopping = False
        """Set when the broker begins to stop."""

    def unready(self) -> str | None:
        """Return why clients are not served: before the first registration, and when stopping."""
        if self.is_stopping:
            return "stopping"
        is_serving = self._identity.registered_once.is_set()
        return None if is_serving else "not registered with ZooKeeper"

    def uncertain(self) -> str | None:
        """Return why the broker may have missed changes of the cluster."""
        if not self._identity.is_registered:
            return "not registered with ZooKeeper"
        return None if self._registration.is_certain() else "ZooKeeper does not answer"
