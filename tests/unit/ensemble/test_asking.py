"""What is made of other servers' answers, the hostile and the broken ones too."""

import asyncio

import pytest
from prometheus_client import CollectorRegistry

from ballast.ensemble import asking
from ballast.ensemble.decisions import Disk, Report
from ballast.ensemble.settings import Addresses, ServerList
from ballast.net.http import Health, HttpServer

LISTED = ServerList(servers={1: "zk-0:2888:3888:participant;2181"}, version=2**40)


@pytest.mark.parametrize(
    "report",
    [
        Report(server_id=2, disk=Disk.EMPTY),
        Report(server_id=2, disk=Disk.MEMBER, mode="leader", list=LISTED),
    ],
)
def test_a_report_is_read_as_it_was_sent(report: Report) -> None:
    assert asking.read_report(asking.report_text(report), 2) == report
    assert asking.read_report(asking.report_text(report), 3) is None


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        "{}",
        '{"server": 2, "disk": "Full", "mode": "", "servers": null, "version": 0}',
        '{"server": 2, "disk": "Empty", "mode": "", "servers": 5, "version": 0}',
        '{"server": "x", "disk": "Empty", "mode": "", "servers": null, "version": 0}',
    ],
)
def test_what_is_no_report_is_none(text: str) -> None:
    assert asking.read_report(text, 2) is None


@pytest.mark.parametrize(
    ("answer", "mode"),
    [
        ("Zookeeper version: 3.9.5\nMode: follower\nNode count: 5\n", "follower"),
        ("This ZooKeeper instance is not currently serving requests\n", ""),
        (None, ""),
    ],
)
def test_the_mode_of_a_server_that_takes_sessions(answer: str | None, mode: str) -> None:
    assert asking.mode_of(answer) == mode


async def test_reports_are_asked_for_by_http() -> None:
    report = Report(server_id=2, disk=Disk.MEMBER, list=LISTED)
    health = Health(unhealthy=lambda: None, unready=lambda: None, registry=CollectorRegistry())
    server = HttpServer(health, {asking.REPORT_PATH: lambda: asking.report_text(report)})
    await server.start("127.0.0.1", 0)
    places = Addresses(host_pattern="127.0.0.{ordinal}", http_port=server.port)
    try:
        # Nobody listens at 127.0.0.2, where the third would be.
        assert await asking.reports(places, (2, 3)) == {2: report}
    finally:
        await server.close()


async def test_a_server_that_cannot_be_asked_says_nothing() -> None:
    closed = await asyncio.start_server(lambda _r, writer: writer.close(), "127.0.0.1", 0)
    port = closed.sockets[0].getsockname()[1]
    assert await asking.four_letter_word("127.0.0.1", port, "srvr") == ""
    closed.close()
    await closed.wait_closed()
    assert await asking.four_letter_word("127.0.0.1", port, "srvr") is None
