"""``make bench``: Ballast beside floors that are measured in the same run.

Prints a table and writes ``build/bench.json``: for each measurement the median of Ballast's
figures, the median of its floor's, and their ratio (as throughput: more is better).
"""

import json
import statistics
import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path

from rich.console import Console
from rich.table import Table

from tests.bench import brokers, floors, leaders
from tests.bench.brokers import BenchCluster
from tests.bench.client import BenchClient
from tests.bench.floors import MIB
from tests.interop.local_cluster import running_cluster

ROUNDS = 5
REPORT = Path("build/bench.json")
SIZES = {"produce_1m": MIB, "produce_64k": 64 * 1024, "produce_1k": 1024}
TOTALS = {"produce_1m": 384 * MIB, "produce_64k": 256 * MIB, "produce_1k": 16 * MIB}
CATCH_UP_BYTES = 384 * MIB

Measure = Callable[[], float]


class Bench:
    """Pairs of measurements on one folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def throughput(self, ballast: Measure, floor: Measure, size_bytes: int) -> dict[str, object]:
        """Measure the two in turn, after one round that does not count, in bytes per second.

        In turn, and the ratio is taken pair by pair, so that a machine whose speed drifts is fair
        to both.
        """
        pairs = []
        for _ in range(ROUNDS + 1):
            floors.warm_memory(size_bytes, self.folder)
            below = floor()
            floors.warm_memory(size_bytes, self.folder)
            pairs.append((ballast(), below))
        own, below_all = zip(*pairs[1:], strict=True)
        return {
            "value": round(statistics.median(own) / 1e6, 1),
            "unit": "MB/s",
            "floor": round(statistics.median(below_all) / 1e6, 1),
            "ratio": round(statistics.median(a / b for a, b in pairs[1:]), 3),
        }

    def brokers(self) -> dict[str, dict[str, object]]:
        """Measure what goes through brokers."""
        figures: dict[str, dict[str, object]] = {}
        arguments = ("--brokers", "2", "--controllers", "1")
        with running_cluster(self.folder / "cluster", *arguments) as running:
            first = running.bootstrap_servers.split(",")[0]
            cluster = BenchCluster(running, BenchClient(first))
            idle_mb = cluster.resident_mb("broker-1")
            for name, size in SIZES.items():
                cluster.create_topic(name, [(1,)])
                figures[name] = self.throughput(
                    partial(brokers.produce, cluster, name, size, TOTALS[name]),
                    partial(floors.receive_and_write, size, TOTALS[name], self.folder),
                    TOTALS[name],
                )
            figures["fetch_1m"] = self.throughput(
                partial(brokers.fetch, cluster, "produce_1m", MIB, TOTALS["produce_1m"]),
                partial(floors.send_file, MIB, TOTALS["produce_1m"], self.folder),
                TOTALS["produce_1m"],
            )
            figures["catch_up"] = self.catch_up(cluster)
            cluster.client.close()
        figures["idle_rss_mb"] = {
            "value": round(idle_mb, 1),
            "unit": "MB",
            "floor": None,
            "ratio": None,
            "growth_per_1000_partitions": round(measure_growth(self.folder), 1),
        }
        return figures

    def catch_up(self, cluster: BenchCluster) -> dict[str, object]:
        """Measure a second replica's way into the ISR, with a fresh topic for each round."""
        topics = [f"catch_up_{number}" for number in range(ROUNDS + 1)]
        for topic in topics:
            cluster.create_topic(topic, [(1,)])
            brokers.produce(cluster, topic, MIB, CATCH_UP_BYTES)
        left = iter(topics)
        return self.throughput(
            lambda: brokers.catch_up(cluster, next(left), CATCH_UP_BYTES, 2),
            partial(floors.receive_and_write, MIB, CATCH_UP_BYTES, self.folder),
            CATCH_UP_BYTES,
        )


def measure_growth(folder: Path) -> float:
    """Return by how many MB a fresh broker grows with its first 1,000 idle partitions."""
    arguments = ("--brokers", "1", "--controllers", "1")
    with running_cluster(folder / "growth", *arguments) as running:
        cluster = BenchCluster(running, BenchClient(running.bootstrap_servers))
        before = cluster.resident_mb("broker-1")
        cluster.create_topic("idle", [(1,)] * 1000)
        after = cluster.resident_mb("broker-1")
        cluster.client.close()
    return after - before


def report(figures: dict[str, dict[str, object]]) -> None:
    table = Table(title="Ballast beside floors of the same run (medians)")
    for heading in ("measurement", "Ballast", "floor", "unit", "ratio"):
        table.add_column(heading, justify="left" if heading == "measurement" else "right")
    for name, figure in figures.items():
        row = (figure["value"], figure["floor"], figure["unit"], figure["ratio"])
        table.add_row(name, *("" if cell is None else str(cell) for cell in row))
    Console().print(table)
    growth = figures["idle_rss_mb"]["growth_per_1000_partitions"]
    Console().print(f"An idle broker grows by {growth} MB per 1,000 idle partitions.")
    REPORT.parent.mkdir(exist_ok=True)
    REPORT.write_text(json.dumps(figures, indent=2) + "\n")


def main() -> None:
    with tempfile.TemporaryDirectory(prefix="ballast-bench-") as name:
        folder = Path(name)
        figures = Bench(folder).brokers()
        figures["leaders_1000"] = leaders.measure(folder)
        figures["idle_rss_mb"] = figures.pop("idle_rss_mb")
    report(figures)


if __name__ == "__main__":
    main()
