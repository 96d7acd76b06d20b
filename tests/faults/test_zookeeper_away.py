"""ZooKeeper is stopped or killed while clients write with acks=all to three replicas.

Run by ``make chaos``, not by ``make test``. ``BALLAST_AWAY_S`` says for how long ZooKeeper is
stopped.
"""

import os
import signal
import time
from collections.abc import Callable, Iterator

import pytest
from confluent_kafka.admin import AdminClient, NewTopic

from tests.faults import observation
from tests.faults.steady_writers import SteadyWriter, lost
from tests.interop.local_cluster import RunningCluster, running_cluster

TOPIC = "steady"
PARTITIONS = 12
WRITERS = 4
INTERVAL_S = 0.05
SESSION_S = 6.0
"""Of the brokers; ``ballast up`` gives its controllers 4 s."""
AWAY_S = float(os.environ.get("BALLAST_AWAY_S", "30"))
AFTER_S = 15.0
PAUSE_WITHOUT_S = 2.0
"""While ZooKeeper is away nothing waits for it; the rest is what a busy machine takes."""

pytestmark = [pytest.mark.chaos, pytest.mark.timeout(600)]


@pytest.fixture
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningCluster]:
    with running_cluster(tmp_path_factory.mktemp("away"), "--brokers", "3") as running:
        yield running


def stop(cluster: RunningCluster) -> None:
    cluster.signal("zookeeper", signal.SIGSTOP)
    time.sleep(AWAY_S)
    cluster.signal("zookeeper", signal.SIGCONT)


def kill(cluster: RunningCluster) -> None:
    """Kill it; ``ballast up`` starts it again."""
    cluster.signal("zookeeper", signal.SIGKILL)


def stop_for_half_a_session(cluster: RunningCluster) -> None:
    cluster.signal("zookeeper", signal.SIGSTOP)
    time.sleep(SESSION_S / 2)
    cluster.signal("zookeeper", signal.SIGCONT)


@pytest.mark.parametrize("fault", [stop, kill, stop_for_half_a_session])
def test_acknowledgements_go_on(
    cluster: RunningCluster, fault: Callable[[RunningCluster], None]
) -> None:
    admin = AdminClient({"bootstrap.servers": cluster.bootstrap_servers})
    topic = NewTopic(
        TOPIC,
        num_partitions=PARTITIONS,
        replication_factor=3,
        config={"min.insync.replicas": "2"},
    )
    admin.create_topics([topic])[TOPIC].result(30)
    observation.seconds_until_in_sync(cluster, PARTITIONS, 30)
    writers = [
        SteadyWriter(
            cluster.bootstrap_servers,
            TOPIC,
            PARTITIONS,
            writer=number,
            interval_s=INTERVAL_S,
            idempotent=number % 2 == 0,
        )
        for number in range(WRITERS)
    ]
    for writer in writers:
        writer.start()
    time.sleep(3)
    away = time.monotonic()
    fault(cluster)
    back = time.monotonic()
    time.sleep(AFTER_S)
    for writer in writers:
        writer.stop()
    pauses = sorted((p for writer in writers for p in writer.pauses()), reverse=True)
    for pause in pauses[:3]:
        print(
            f"    {pause.duration_s:.2f} s from {pause.begin_s - away:+.1f} s on "
            f"(away {back - away:.1f} s), writer {pause.writer}, partition {pause.partition}"
        )
    observation.seconds_until_in_sync(cluster, PARTITIONS, 30)
    assert not [str(error) for writer in writers for error in writer.failed]
    assert lost(cluster.bootstrap_servers, TOPIC, writers) == 0
    # What of a pause lies before the return, and what behind it.
    without_s = max(min(pause.end_s, back) - pause.begin_s for pause in pauses)
    after_s = max(pause.end_s - max(pause.begin_s, back) for pause in pauses)
    assert without_s < PAUSE_WITHOUT_S
    assert after_s < SESSION_S + 2.0
