from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.interop.kafka_jars import VERSIONS
from tests.interop.kafka_tools import KafkaTools, kafka_tools
from tests.interop.local_cluster import RunningCluster, running_cluster


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark these tests, so that they can be left out."""
    for item in items:
        if "interop" in item.nodeid:
            item.add_marker(pytest.mark.interop)


@pytest.fixture(scope="session")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningCluster]:
    directory: Path = tmp_path_factory.mktemp("cluster")
    # Groups are small here, and their members die on purpose: nobody shall wait long for that.
    with running_cluster(
        directory,
        *("--brokers", "3"),
        *("--override", "group.initial.rebalance.delay.ms=0"),
        *("--override", "group.min.session.timeout.ms=1000"),
    ) as running:
        yield running


@pytest.fixture(scope="session", params=VERSIONS)
def tools(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[KafkaTools]:
    with kafka_tools(request.param, tmp_path_factory.mktemp("tools")) as running:
        yield running
