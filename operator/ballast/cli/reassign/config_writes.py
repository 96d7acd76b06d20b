"""Writes configs for ``ballast reassign``, and retries errors that are temporary.

Setting or deleting a value is idempotent, so a write whose outcome is unknown is repeated. Without
a retry, a throttle that was written in part would stay in force unnoticed.
"""

from collections.abc import Awaitable, Callable, Mapping
from typing import Final

from ballast.cli.reassign.failures import CommandFailed
from ballast.reassign.ports import BrokerUnavailable, Clock, ClusterAdmin, RequestError

RETRIED: Final = frozenset({"REQUEST_TIMED_OUT", "NOT_CONTROLLER"})
"""Errors that pass by themselves, as when a broker's session with ZooKeeper has expired."""

RETRY_FOR_S: Final = 30.0
PAUSE_S: Final = 0.5


class ConfigWrites:
    """Writes configs of topics and brokers; raises `CommandFailed` for what is refused."""

    def __init__(self, admin: ClusterAdmin, clock: Clock) -> None:
        self._admin = admin
        self._clock = clock

    async def topics(self, changes: Mapping[str, Mapping[str, str | None]]) -> None:
        """Alter the configs of topics."""

        async def alter() -> Mapping[str, RequestError]:
            return await self._admin.alter_topic_configs(changes)

        for error in (await self._outcome(alter)).values():
            raise CommandFailed(error.message)

    async def broker(self, broker_id: int, changes: Mapping[str, str | None]) -> None:
        """Alter the configs of one broker."""
        name = f"broker {broker_id}"

        async def alter() -> Mapping[str, RequestError]:
            error = await self._admin.alter_broker_configs(broker_id, changes)
            return {} if error is None else {name: error}

        try:
            refused = await self._outcome(alter)
        except BrokerUnavailable as unavailable:
            raise CommandFailed(str(unavailable)) from unavailable
        for error in refused.values():
            raise CommandFailed(f"{name}: {error.message}")

    async def _outcome(
        self, alter: Callable[[], Awaitable[Mapping[str, RequestError]]]
    ) -> Mapping[str, RequestError]:
        """Return what is refused in the end."""
        deadline = self._clock.now() + RETRY_FOR_S
        while True:
            refused = await alter()
            is_passing = any(error.error in RETRIED for error in refused.values())
            if not is_passing or self._clock.now() >= deadline:
                return refused
            await self._clock.sleep(PAUSE_S)
