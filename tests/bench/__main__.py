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
WARM_BYTES = 512 * MIB
REPORT = Path("build/bench.json")


def paired(ballast: Callable[[], float], floor: Callable[[], float]) -> tuple[float, float]:
    """Measure the two in turn after one round that does not count; return both medians.

    In turn, so that a machine whose speed drifts is fair to both.
    """
    rounds = [(warm(floor), warm(ballast)) for _ in range(ROUNDS + 1)][1:]
    below, own = zip(*rounds, strict=True)
    return statistics.median(own), statistics.median(below)


def warm(measure: Callable[[], float], size_bytes: int = WARM_BYTES) -> float:
    floors.warm_memory(size_bytes)
    return measure()


def throughput(ballast: Callable[[], float], floor: Callable[[], float]) -> dict[str, object]:
    own, below = paired(ballast, floor)
    return {
        "value": round(own / 1e6, 1),
        "unit": "MB/s",
        "floor": round(below / 1e6, 1),
        "ratio": round(own / below, 3),
    }


def measure_brokers(folder: Path) -> dict[str, dict[str, object]]:
    figures: dict[str, dict[str, object]] = {}
    arguments = ("--brokers", "2", "--controllers", "1")
    with running_cluster(folder / "cluster", *arguments) as running:
        first = running.bootstrap_servers.split(",")[0]
        cluster = BenchCluster(running, BenchClient(first))
        idle_mb = cluster.resident_mb("broker-1")
        sizes = {"produce_1m": MIB, "produce_64k": 64 * 1024, "produce_1k": 1024}
        totals = {"produce_1m": 384 * MIB, "produce_64k": 256 * MIB, "produce_1k": 16 * MIB}
        for name, size in sizes.items():
            cluster.create_topic(name, [(1,)])
            figures[name] = throughput(
                partial(brokers.produce, cluster, name, size, totals[name]),
                partial(floors.receive_and_write, size, totals[name], folder),
            )
        written = totals["produce_1m"] * (ROUNDS + 1)
        figures["fetch_1m"] = throughput(
            lambda: brokers.fetch(cluster, "produce_1m", MIB, totals["produce_1m"]),
            lambda: floors.send_file(MIB, totals["produce_1m"], folder),
        )
        figures["catch_up"] = measure_catch_up(cluster, written, folder)
        grown_mb = measure_growth(folder)
        figures["idle_rss_mb"] = {
            "value": round(idle_mb, 1),
            "unit": "MB",
            "floor": None,
            "ratio": None,
            "growth_per_1000_partitions": round(grown_mb, 1),
        }
        cluster.client.close()
    return figures


def measure_catch_up(cluster: BenchCluster, size_bytes: int, folder: Path) -> dict[str, object]:
    """One move counts: the same partition cannot be moved afresh without deleting it again."""
    below = statistics.median(
        warm(partial(floors.receive_and_write, MIB, size_bytes // ROUNDS, folder))
        for _ in range(ROUNDS)
    )
    own = warm(partial(brokers.catch_up, cluster, "produce_1m", size_bytes, 2), size_bytes)
    return {
        "value": round(own / 1e6, 1),
        "unit": "MB/s",
        "floor": round(below / 1e6, 1),
        "ratio": round(own / below, 3),
    }


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
        figures = measure_brokers(folder)
        figures["leaders_1000"] = leaders.measure(folder)
        figures["idle_rss_mb"] = figures.pop("idle_rss_mb")
    report(figures)


if __name__ == "__main__":
    main()
