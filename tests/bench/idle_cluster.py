"""What a cluster that does nothing costs: the CPU of brokers whose followers wait for records.

The floor is the share of one core that a broker may use. Followers' sessions name no partition
while nothing changes, so that it must not grow with the partitions.
"""

import time
from pathlib import Path

from tests.bench.brokers import BenchCluster
from tests.bench.client import BenchClient
from tests.bench.operations import until_in_sync
from tests.bench.usage import cpu_seconds
from tests.interop.local_cluster import running_cluster

PARTITIONS = 3_000
BROKERS = (1, 2, 3)
SETTLE_S = 70.0
"""Until what was created has been flushed, which is once after a minute."""
MEASURED_S = 60.0
"""As long as the period of the longest of the regular tasks that look at each log."""
BOUND_PERCENT = 3.0
TOPIC = "idle"


def measure(folder: Path) -> dict[str, object]:
    """Return the figure: percent of one core that the busiest of three brokers uses."""
    arguments = ("--brokers", str(len(BROKERS)), "--controllers", "1")
    with running_cluster(folder / "idle_cluster", *arguments) as running:
        cluster = BenchCluster(running, BenchClient(running.bootstrap_servers.split(",")[0]))
        replicas = [BROKERS[n % 3 :] + BROKERS[: n % 3] for n in range(PARTITIONS)]
        cluster.create_topic(TOPIC, replicas)
        until_in_sync(cluster, TOPIC)
        time.sleep(SETTLE_S)
        pids = [running.pid(f"broker-{broker}") for broker in BROKERS]
        before = [cpu_seconds(pid) for pid in pids]
        time.sleep(MEASURED_S)
        used = max(cpu_seconds(pid) - start for pid, start in zip(pids, before, strict=True))
        cluster.client.close()
    percent = used / MEASURED_S * 100
    return {
        "value": round(percent, 2),
        "unit": "% of a core",
        "floor": BOUND_PERCENT,
        "ratio": round(BOUND_PERCENT / percent, 3),
    }
