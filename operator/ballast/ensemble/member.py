"""The process beside one ZooKeeper server: it starts the server when that is safe, and watches it.

    no list with itself ─► asks the others, each `POLL_S`, until `decisions.start` gives one ─┐
    list with itself ─────────────────────────────────────────────────────────────────────────┤
                                                       the server runs ◄──────────────────────┘
    each `POLL_S`: its mode; beside the leader also the others' reports ─► a change of the ensemble

It ends with the server, and the server with it.
"""

import asyncio
import base64
import hashlib
import logging
import secrets
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Final

from prometheus_client import CollectorRegistry

from ballast.ensemble import asking, decisions
from ballast.ensemble.decisions import Change, Disk, Report, StartWith
from ballast.ensemble.folder import MemberFolder
from ballast.ensemble.metrics import MemberCollector, read_mntr
from ballast.ensemble.settings import Addresses, ServerList
from ballast.net.http import Health, HttpServer
from ballast.zk.ensemble_changes import change_ensemble
from ballast.zk.errors import ZooKeeperError

log = logging.getLogger(__name__)

POLL_S: Final = 1.0
METRICS_POLLS: Final = 10
"""``mntr`` is sent once in this number of polls."""
SILENT_S: Final = 60.0
"""A server that has not even said that it takes no sessions for so long is started again."""
STOP_TIMEOUT_S: Final = 20.0

Command = Callable[[Path, str], Sequence[str]]
"""The server's command line, from its configuration and the digest of its superuser's password."""


class Member:
    """One server, and the process beside it."""

    def __init__(
        self,
        addresses: Addresses,
        folder: MemberFolder,
        server_id: int,
        replicas: Callable[[], int],
        command: Command,
        lock: int | None = None,
    ) -> None:
        """``replicas`` returns how many servers the ensemble shall have; it raises `OSError`.

        ``lock`` is a descriptor that the server inherits: a lock of its disk is held until both
        processes have ended.
        """
        self._addresses = addresses
        self._folder = folder
        self._server_id = server_id
        self._replicas = replicas
        self._command = command
        self._inherited = () if lock is None else (lock,)
        self._password = secrets.token_hex(32)
        self._mode = ""
        self._disk = Disk.EMPTY
        self._list: ServerList | None = None
        self._numbers: Mapping[str, float] = {}
        self._heard_at: float | None = None
        """When the server last answered, on the loop's clock; None before it is started."""
        self._waiting_for: str | None = None
        self._is_update_blocked = False
        self._polls = 0

    async def run(self, stopped: asyncio.Event) -> int:
        """Run until the server ends or ``stopped`` is set; return the exit code.

        Raises `OSError` when the disk or the port of the reports cannot be used.
        """
        self._look_at_disk()
        http = HttpServer(self._health(), {asking.REPORT_PATH: self._report_text})
        host = "" if self._addresses.is_listening_everywhere else self._host
        await http.start(host or None, self._addresses.http_port)
        try:
            if not await self._prepare(stopped):
                return 0
            return await self._serve(stopped)
        finally:
            await http.close()

    @property
    def _host(self) -> str:
        return self._addresses.host(self._server_id)

    @property
    def _client_host(self) -> str:
        return "127.0.0.1" if self._addresses.is_listening_everywhere else self._host

    async def _prepare(self, stopped: asyncio.Event) -> bool:
        """Return whether the server may start, with its files written; False after a stop."""
        servers = self._list if self._disk is Disk.MEMBER else None
        while servers is None:
            servers = await self._ask_for_list()
            if servers is None and await _is_set_within(stopped, POLL_S):
                return False
        self._waiting_for = None
        self._folder.prepare(
            servers, is_listening_everywhere=self._addresses.is_listening_everywhere
        )
        self._look_at_disk()
        return True

    async def _ask_for_list(self) -> ServerList | None:
        wanted = self._wanted()
        # Those beyond the number that is wanted too: they may hold data.
        all_ids = range(decisions.FIRST_ID, decisions.MAX_ID + 1)
        others = [number for number in all_ids if number != self._server_id]
        found = await asking.reports(self._addresses, others)
        own = self._addresses.server(self._server_id)
        decided = decisions.start(self._server_id, own, self._disk, wanted, found)
        if isinstance(decided, StartWith):
            log.info("starting with servers %s", sorted(decided.list.ids))
            if decided.is_new:
                log.warning("every disk is empty: a new ensemble begins here")
            return decided.list
        if decided.reason != self._waiting_for:
            log.info("waiting: %s", decided.reason)
        self._waiting_for = decided.reason
        self._is_update_blocked = await self._has_silent_server(others, found)
        return None

    async def _has_silent_server(self, others: Sequence[int], found: Mapping[int, Report]) -> bool:
        """Return whether a server takes sessions without a process like this one beside it.

        It is of an earlier release. Kubernetes replaces its pod only once this one is ready, and
        this one can join only after that.
        """
        for number in others:
            if number not in found:
                host, port = self._addresses.host(number), self._addresses.client_port
                if asking.mode_of(await asking.four_letter_word(host, port, "srvr")):
                    return True
        return False

    async def _serve(self, stopped: asyncio.Event) -> int:
        secret = base64.b64encode(hashlib.sha1(f"super:{self._password}".encode()).digest())  # noqa: S324 - ZooKeeper's
        argv = self._command(self._folder.config, f"super:{secret.decode()}")
        server = await asyncio.create_subprocess_exec(
            *argv, stdin=asyncio.subprocess.DEVNULL, pass_fds=self._inherited
        )
        self._heard_at = asyncio.get_running_loop().time()
        try:
            async with asyncio.TaskGroup() as tasks:
                watching = tasks.create_task(self._watch())
                ending = tasks.create_task(server.wait())
                stopping = tasks.create_task(stopped.wait())
                await asyncio.wait(
                    (watching, ending, stopping), return_when=asyncio.FIRST_COMPLETED
                )
                for task in (watching, ending, stopping):
                    task.cancel()
            if server.returncode is None:
                return 0
            log.error("the server has ended with %s", server.returncode)
            return 1
        finally:
            await _stop(server)

    async def _watch(self) -> None:
        while True:
            await asyncio.sleep(POLL_S)
            await self._look_at_server()
            if self._mode == "leader":
                await self._change_ensemble()

    async def _look_at_server(self) -> None:
        port = self._addresses.client_port
        answer = await asking.four_letter_word(self._client_host, port, "srvr")
        if answer is not None:
            self._heard_at = asyncio.get_running_loop().time()
        mode = asking.mode_of(answer)
        if mode == "follower":
            self._folder.copied()
        if mode != self._mode:
            log.info("the server is %s", mode or "taking no sessions")
        self._look_at_disk()
        self._mode = mode
        if self._polls % METRICS_POLLS == 0:
            numbers = await asking.four_letter_word(self._client_host, port, "mntr")
            self._numbers = read_mntr(numbers or "")
        self._polls += 1

    async def _change_ensemble(self) -> None:
        """Admit servers that have copied the data, and remove those that have lost theirs."""
        current = self._list
        if current is None or not current.version:
            return  # The list's first version is not committed yet.
        asked = decisions.candidates(current, self._wanted())
        found = await asking.reports(
            self._addresses, (number for number in asked if number != self._server_id)
        )
        change = decisions.next_change(current, found)
        if change is None:
            return
        log.info("changing the ensemble %s: %s", sorted(current.ids), change)
        try:
            await self._commit(change)
        except ZooKeeperError as error:
            log.warning("%s", error)  # It is tried again at the next look.

    async def _commit(self, change: Change) -> None:
        servers = [f"server.{number}={self._addresses.server(number)}" for number in change.joining]
        await change_ensemble(
            f"{self._client_host}:{self._addresses.client_port}",
            self._password,
            joining=",".join(servers),
            leaving=",".join(str(number) for number in change.leaving),
            version=change.version,
        )

    def _wanted(self) -> frozenset[int]:
        return frozenset(range(decisions.FIRST_ID, self._replicas() + 1)) | {self._server_id}

    def _look_at_disk(self) -> None:
        self._disk, self._list = self._folder.look()

    def _report_text(self) -> str:
        return asking.report_text(
            Report(server_id=self._server_id, disk=self._disk, mode=self._mode, list=self._list)
        )

    def _health(self) -> Health:
        registry = CollectorRegistry()
        registry.register(MemberCollector(self._seen))
        return Health(unhealthy=self._unhealthy, unready=self._unready, registry=registry)

    def _seen(self) -> tuple[str, int, Mapping[str, float]]:
        return self._mode, len(self._list.ids) if self._list else 0, self._numbers

    def _unhealthy(self) -> str | None:
        if self._heard_at is None:
            return None
        silent_s = asyncio.get_running_loop().time() - self._heard_at
        return f"the server has been silent for {silent_s:.0f} s" if silent_s > SILENT_S else None

    def _unready(self) -> str | None:
        if self._mode or self._is_update_blocked:
            return None
        return self._waiting_for or "the server takes no sessions"


async def _is_set_within(event: asyncio.Event, timeout_s: float) -> bool:
    try:
        async with asyncio.timeout(timeout_s):
            return await event.wait()
    except TimeoutError:
        return False


async def _stop(server: asyncio.subprocess.Process) -> None:
    """End the server, first by SIGTERM; it loses nothing by SIGKILL either."""
    if server.returncode is not None:
        return
    server.terminate()
    try:
        async with asyncio.timeout(STOP_TIMEOUT_S):
            await server.wait()
    except TimeoutError:
        server.kill()
        await server.wait()
