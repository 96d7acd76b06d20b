"""Simulated machines: what runs on one stops at once when it is killed, and waits while paused.

Code belongs to a host through the context variable `HOST`: asyncio copies the context into every
task, timer and callback, so whatever a host's first task starts belongs to it too. A killed host's
callbacks are dropped by the loop: no ``finally`` runs, as after SIGKILL.
"""

import contextvars


class Host:
    """One incarnation of one machine's process; after a kill a new one is made."""

    __slots__ = ("is_dead", "is_paused", "name")

    def __init__(self, name: str) -> None:
        self.name = name
        self.is_dead = False
        self.is_paused = False

    def __repr__(self) -> str:
        return f"Host({self.name})"

    def context(self) -> contextvars.Context:
        """Return a new context in which code belongs to this host."""
        context = contextvars.copy_context()
        context.run(HOST.set, self)
        return context


OUTSIDE = Host("outside")
"""Where the test itself runs; never killed."""

HOST: contextvars.ContextVar[Host] = contextvars.ContextVar("HOST", default=OUTSIDE)
"""The host that the running code belongs to."""


def broker_name(broker_id: int) -> str:
    """Return the host of a broker."""
    return f"broker-{broker_id}"


def candidate_name(candidate_id: int) -> str:
    """Return the host of a candidate."""
    return f"candidate-{candidate_id}"


def broker_of(host: str) -> int | None:
    """Return the broker on a host, None if it is no broker's."""
    kind, _, number = host.partition("-")
    return int(number) if kind in ("broker", "second") else None
