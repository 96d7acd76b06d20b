"""What servers say: ZooKeeper's four letter words, and the reports of the processes beside them."""

import asyncio
import json
from collections.abc import Iterable
from typing import Any, Final

from ballast.ensemble.decisions import Disk, Report
from ballast.ensemble.settings import Addresses, ServerList

TIMEOUT_S: Final = 2.0
MAX_ANSWER_BYTES: Final = 256 * 1024
REPORT_PATH: Final = "/member"


async def four_letter_word(host: str, port: int, word: str) -> str | None:
    """Return a server's answer to ``srvr``, ``ruok`` or ``mntr``; None when there is none."""
    answer = await _ask(host, port, word.encode())
    return None if answer is None else answer.decode(errors="replace")


def mode_of(answer: str | None) -> str:
    """Return the mode in an answer to ``srvr``; empty when the server takes no sessions."""
    for line in (answer or "").splitlines():
        if line.startswith("Mode: "):
            return line.removeprefix("Mode: ").strip()
    return ""


async def reports(addresses: Addresses, server_ids: Iterable[int]) -> dict[int, Report]:
    """Return the reports of those servers that answer, by id."""
    ids = tuple(server_ids)
    async with asyncio.TaskGroup() as tasks:
        asked = [tasks.create_task(_report(addresses, number)) for number in ids]
    answers = zip(ids, (task.result() for task in asked), strict=True)
    return {number: report for number, report in answers if report is not None}


def report_text(report: Report) -> str:
    """Return a report as it is sent."""
    servers = report.list
    return json.dumps(
        {
            "server": report.server_id,
            "disk": report.disk.value,
            "mode": report.mode,
            "servers": None if servers is None else {str(k): v for k, v in servers.servers.items()},
            "version": 0 if servers is None else servers.version,
        }
    )


def read_report(text: str, server_id: int) -> Report | None:
    """Return a server's report; None for what is none of that server."""
    try:
        fields: Any = json.loads(text)
        servers = fields["servers"]
        listed = None
        if servers is not None:
            by_id = {int(number): str(server) for number, server in servers.items()}
            listed = ServerList(servers=by_id, version=int(fields["version"]))
        report = Report(
            server_id=int(fields["server"]),
            disk=Disk(fields["disk"]),
            mode=str(fields["mode"]),
            list=listed,
        )
    except (ValueError, KeyError, TypeError, AttributeError):
        return None
    return report if report.server_id == server_id else None


async def _report(addresses: Addresses, server_id: int) -> Report | None:
    host = addresses.host(server_id)
    request = f"GET {REPORT_PATH} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n"
    answer = await _ask(host, addresses.http_port, request.encode())
    head, _, body = (answer or b"").partition(b"\r\n\r\n")
    if b" 200 " not in head.split(b"\r\n", 1)[0]:
        return None
    return read_report(body.decode(errors="replace"), server_id)


async def _ask(host: str, port: int, request: bytes) -> bytes | None:
    """Return what is answered until the other side closes; None when it cannot be asked."""
    try:
        async with asyncio.timeout(TIMEOUT_S):
            reader, writer = await asyncio.open_connection(host, port, limit=MAX_ANSWER_BYTES)
            try:
                writer.write(request)
                answer = bytearray()
                while piece := await reader.read(MAX_ANSWER_BYTES):
                    answer += piece
                    if len(answer) > MAX_ANSWER_BYTES:
                        return None
                return bytes(answer)
            finally:
                writer.close()
    except (OSError, TimeoutError):
        return None
