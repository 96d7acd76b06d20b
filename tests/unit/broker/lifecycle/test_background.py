"""Which work runs beside the requests, by the settings."""

import random

import pytest

from ballast.broker.lifecycle.background import background_work
from tests.unit.broker.broker_cluster import Cluster, simulate


def names_of_work(**properties: str) -> list[str]:
    async def main(cluster: Cluster) -> list[str]:
        await cluster.start(1)
        components = cluster.brokers[1].components
        names = []
        for work in background_work(
            components.context, components.channels, lambda: True, random.Random(1)
        ):
            names.append(getattr(work, "__qualname__"))  # noqa: B009  typed as a bare Coroutine
            work.close()
        return names

    return simulate(main, 1, **properties)


@pytest.mark.parametrize("enabled", ["true", "false"])
def test_the_cleaner_runs_only_if_it_is_enabled(enabled: str) -> None:
    names = names_of_work(log_cleaner_enable=enabled)
    assert ("LogCleaner.run" in names) == (enabled == "true")


def test_log_starts_are_checkpointed_apart_only_if_that_is_due_before_the_flushes() -> None:
    intervals = {
        "log_flush_offset_checkpoint_interval_ms": "60000",
        "log_flush_start_offset_checkpoint_interval_ms": "60000",
    }
    assert "checkpoint_periodically" not in names_of_work(**intervals)
    intervals["log_flush_start_offset_checkpoint_interval_ms"] = "1000"
    assert "checkpoint_periodically" in names_of_work(**intervals)


def test_every_broker_checks_its_isrs_and_directories() -> None:
    names = names_of_work()
    assert names.count("every") == 6
    assert {"ConfigWatcher.run", "IsrWriter.run", "NewerLeaders.run"} <= set(names)
