"""Counters begin at nothing."""

import dataclasses

from ballast.net.server.counters import ServerCounters


def test_nothing_has_been_seen_yet() -> None:
    assert set(dataclasses.asdict(ServerCounters()).values()) == {0}
