"""The controller's election: one multi makes /controller and raises /controller_epoch.

Source: `KafkaZkClient.registerControllerAndIncrementControllerEpoch` (KAFKA-6082): because both
happen or neither, no two sessions ever hold the same epoch, and the epoch's znode version fences
every later write of an older controller.
"""

import contextlib
from collections.abc import Callable
from dataclasses import dataclass

from ballast.zk import lost_replies
from ballast.zk.client import Check, Create, Delete, SetData, Stat, Watch, ZooKeeperClient
from ballast.zk.errors import (
    BadVersion,
    ConnectionLoss,
    MultiFailed,
    NodeExists,
    NoNode,
)
from ballast.znodes import controller, controller_epoch
from ballast.znodes.controller import ControllerInfo
from ballast.znodes.errors import ZnodeError

MAX_ROUNDS = 16
"""Rounds of one election: each is lost to another candidate, or to a lost connection."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ElectionWon:
    """This candidate is the controller."""

    controller_epoch: int
    epoch_zk_version: int
    """Version of /controller_epoch: what every write of this controller must check."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ElectionLost:
    """Another session holds /controller."""

    controller: ControllerInfo | None
    """None when its znode cannot be read."""
    controller_epoch: int
    """Its epoch, or a later one when it has lost to another meanwhile."""


class Election:
    """One candidate's elections in one session."""

    def __init__(
        self,
        client: ZooKeeperClient,
        candidate_id: int,
        endpoint: tuple[str, int],
        wall_clock_ms: Callable[[], int],
    ) -> None:
        self._client = client
        self._candidate_id = candidate_id
        self._endpoint = endpoint
        self._wall_clock_ms = wall_clock_ms

    async def watch(self, watch: Watch) -> ControllerInfo | None:
        """Return who is the controller, and call ``watch`` once when /controller changes.

        None when there is none or its znode cannot be read. Raises `SessionExpired`,
        `ConnectionLoss`.
        """
        return await read_controller(self._client, watch)

    async def run_for_controller(self) -> ElectionWon | ElectionLost:
        """Try to become the controller; return at once when another session is.

        Raises `SessionExpired`; `ConnectionLoss` when connections keep breaking; `ZnodeError` when
        /controller_epoch cannot be read (no candidate can be elected then).
        """
        for _ in range(MAX_ROUNDS):
            outcome = await self._one_round()
            if outcome is not None:
                return outcome
        raise ConnectionLoss(f"no outcome after {MAX_ROUNDS} rounds of an election")

    async def resign(self, elected: ElectionWon) -> None:
        """Delete /controller if this session still is the controller of that epoch.

        Raises `SessionExpired`, `ConnectionLoss`; a deposed controller deletes nothing.
        """
        operations = (
            Check(controller_epoch.PATH, elected.epoch_zk_version),
            Delete(controller.PATH),
        )
        for _ in range(lost_replies.MAX_ATTEMPTS):
            held = await lost_replies.repeat(self._client, self._read_held)
            if held is None or held[1].ephemeral_owner != self._client.session_id:
                return
            try:
                await self._client.multi(operations)
            except ConnectionLoss:
                await lost_replies.settle(self._client)
            except MultiFailed:
                return
            else:
                return
        raise ConnectionLoss("/controller could not be deleted")

    async def _one_round(self) -> ElectionWon | ElectionLost | None:
        """Return the outcome, or None if it takes another round."""
        epoch, epoch_version = await lost_replies.repeat(self._client, self._read_epoch)
        held = await lost_replies.repeat(self._client, self._read_held)
        if held is not None:
            return await self._judge(held)
        endpoint_host, endpoint_port = self._endpoint
        info = ControllerInfo(
            controller_id=self._candidate_id,
            host=endpoint_host,
            port=endpoint_port,
            timestamp_ms=self._wall_clock_ms(),
        )
        try:
            results = await self._client.multi(
                (
                    Create(controller.PATH, controller.encode(info), ephemeral=True),
                    SetData(
                        controller_epoch.PATH, controller_epoch.encode(epoch + 1), epoch_version
                    ),
                )
            )
        except ConnectionLoss:
            await lost_replies.settle(self._client)
            return None
        except MultiFailed as failure:
            if not isinstance(failure.error, NodeExists | BadVersion):
                raise failure.error from failure
            return None
        stat = results[1]
        assert isinstance(stat, Stat)
        return ElectionWon(controller_epoch=epoch + 1, epoch_zk_version=stat.version)

    async def _judge(self, held: tuple[bytes, Stat]) -> ElectionWon | ElectionLost | None:
        """Find the winner from /controller; this session's own znode means that a reply was lost.

        The epoch is the holder's while the holder's znode exists, so it is read between two reads
        of /controller.
        """
        data, stat = held
        epoch, version = await lost_replies.repeat(self._client, self._read_epoch)
        if stat.ephemeral_owner != self._client.session_id:
            return ElectionLost(controller=_readable(data), controller_epoch=epoch)
        again = await lost_replies.repeat(self._client, self._read_held)
        if again is None or again[1].czxid != stat.czxid:
            return None
        return ElectionWon(controller_epoch=epoch, epoch_zk_version=version)

    async def _read_held(self) -> tuple[bytes, Stat] | None:
        try:
            return await self._client.get(controller.PATH)
        except NoNode:
            return None

    async def _read_epoch(self) -> tuple[int, int]:
        """Return epoch and znode version, making the znode before the first election ever."""
        try:
            data, stat = await self._client.get(controller_epoch.PATH)
        except NoNode:
            # When another candidate was quicker, what it wrote is read below.
            with contextlib.suppress(NodeExists):
                await self._client.create(
                    controller_epoch.PATH, controller_epoch.encode(controller_epoch.INITIAL_EPOCH)
                )
            data, stat = await self._client.get(controller_epoch.PATH)
        return controller_epoch.decode(data), stat.version


async def read_controller(client: ZooKeeperClient, watch: Watch) -> ControllerInfo | None:
    """Return the controller that /controller names, and arm ``watch`` on its creation or end.

    None when there is none or its znode cannot be read. Raises `SessionExpired`, `ConnectionLoss`.
    """

    async def read() -> bytes | None:
        if await client.exists(controller.PATH, watch) is None:
            return None
        try:
            return (await client.get(controller.PATH))[0]
        except NoNode:
            # It went between the two reads; the watch has been called.
            return None

    data = await lost_replies.repeat(client, read)
    return None if data is None else _readable(data)


def _readable(data: bytes) -> ControllerInfo | None:
    try:
        return controller.decode(data)
    except ZnodeError:
        return None
