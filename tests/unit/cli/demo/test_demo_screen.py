import io
from typing import Any

from rich.console import Console

from ballast.cli.demo.demo_screen import BrokerRow, ClientCounts, DemoScreen, lifecycle_state

STATUS: dict[str, Any] = {
    "conditions": [
        {"type": "Progressing", "reason": "Moving"},
        {"type": "Succeeded", "reason": "Executing"},
    ],
    "progress": {
        "bytesMoved": 30_000_000,
        "bytesRemaining": 10_000_000,
        "bytesPerSecond": 12_300_000,
        "summary": "3/9 (33%)",
        "eta": "1s",
    },
}
BROKERS = [
    BrokerRow(broker_id=1, leaders=4, replicas=9, in_sync=9),
    BrokerRow(broker_id=2, leaders=3, replicas=12, in_sync=10),
]
COUNTS = ClientCounts(written=123_456, acknowledged=120_000, consumed=7)


def shown(*, terminal: bool) -> str:
    out = io.StringIO()
    console = Console(file=out, force_terminal=terminal, width=100, color_system=None)
    with DemoScreen(console) as screen:
        screen.happened("starting [1] of it all")
        screen.show(BROKERS, STATUS, COUNTS)
        for number in range(20):
            screen.happened(f"event {number}")
    return out.getvalue()


def test_a_terminal_shows_everything_at_once() -> None:
    picture = shown(terminal=True)
    for words in (
        "broker 1",
        "  9 replicas,  4 led",
        "2 catching up",
        "Executing",
        "3/9 (33%)",
        "12.3 MB/s",
        "eta 1s",
        "123,456 written   120,000 acknowledged   7 read",
    ):
        assert words in picture
    last = picture[picture.rindex("what happened") :]
    assert [number for number in range(20) if f"event {number} " in last] == list(range(12, 20))


def test_elsewhere_what_happens_is_printed_as_it_is() -> None:
    lines = shown(terminal=False).splitlines()
    assert lines == ["starting [1] of it all", *(f"event {number}" for number in range(20))]


def test_an_empty_picture_can_be_drawn() -> None:
    out = io.StringIO()
    with DemoScreen(Console(file=out, force_terminal=True, width=100)) as screen:
        screen.show([], {}, ClientCounts(written=0, acknowledged=0, consumed=0))
    assert "Pending" in out.getvalue()


def test_the_lifecycle_state_is_the_reason_of_succeeded() -> None:
    assert lifecycle_state(STATUS) == "Executing"
    assert lifecycle_state({"conditions": STATUS["conditions"][:1]}) == "Pending"
