"""``make bench``: Ballast beside floors that are measured in the same run.

Prints a table and writes ``build/bench.json``: for each measurement the median of Ballast's
figures, the median of its floor's, and their ratio (as throughput: more is better). Where there is
nothing to measure beside it, the floor is the time that it may take, in seconds.

``python -m tests.bench NAME...`` measures only these, and keeps the other figures of the file.
"""

import json
import statistics
import sys
import tempfile
import traceback
from collections.abc import Callable, Collection, Iterator
from functools import partial
from pathlib import Path

from rich.console import Console
from rich.table import Table

from tests.bench import (
    brokers,
    creation,
    failover,
    floors,
    idle_cluster,
    leaders,
    looks,
    operations,
    small_writes,
    turns,
    waiting,
    wheel,
)
from tests.bench.brokers import BenchCluster
from tests.bench.client import BenchClient
from tests.bench.floors import MIB
from tests.interop.local_cluster import running_cluster

ROUNDS = 5
REPORT = Path("build/bench.json")
SIZES = {"produce_1m": MIB, "produce_64k": 64 * 1024, "produce_1k": 1024}
TOTALS = {"produce_1m": 384 * MIB, "produce_64k": 256 * MIB, "produce_1k": 16 * MIB}
FETCHED = "produce_1m"
CATCH_UP_BYTES = 384 * MIB

Measure = Callable[[], float]
Figure = dict[str, object]
Measurement = Callable[[], dict[str, Figure]]

THROUGH_BROKERS = (*SIZES, "fetch_1m", "catch_up")
"""They share one cluster."""

ALONE: dict[str, Callable[[Path], Figure]] = {
    "leaders_1000": leaders.measure_1000,
    "leaders_10000": leaders.measure_10000,
    "create_20000": creation.measure,
    "failover_20000": failover.measure,
    "reassign_1000": operations.measure_reassign,
    "shutdown_1000": operations.measure_shutdown,
    "restart_2000": operations.measure_restart,
    "waiting_consumer_200": waiting.measure,
    "idle_cluster_3000": idle_cluster.measure,
    "longest_turn": turns.measure,
    "small_writes_p50": small_writes.measure,
    "purgatory_1000000": lambda _: wheel.measure(),
    "look_200000": lambda _: looks.measure(),
}
FIRST_ALONE = "leaders_1000"
IDLE = "idle_rss_mb"
NAMES = (*THROUGH_BROKERS, *ALONE, IDLE)


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

    def brokers(self, names: Collection[str]) -> dict[str, Figure]:
        """Measure what goes through brokers, of it what is named; fetches need records."""
        figures: dict[str, Figure] = {}
        arguments = ("--brokers", "2", "--controllers", "1")
        with running_cluster(self.folder / "cluster", *arguments) as running:
            cluster = BenchCluster(running, BenchClient(running.bootstrap_servers.split(",")[0]))
            for name, size in SIZES.items():
                if name not in names and not (name == FETCHED and "fetch_1m" in names):
                    continue
                cluster.create_topic(name, [(1,)])
                figures[name] = self.throughput(
                    partial(brokers.produce, cluster, name, size, TOTALS[name]),
                    partial(floors.receive_and_write, size, TOTALS[name], self.folder),
                    TOTALS[name],
                )
            if "fetch_1m" in names:
                figures["fetch_1m"] = self.throughput(
                    partial(brokers.fetch, cluster, FETCHED, MIB, TOTALS[FETCHED]),
                    partial(floors.send_file, MIB, TOTALS[FETCHED], self.folder),
                    TOTALS[FETCHED],
                )
            if "catch_up" in names:
                figures["catch_up"] = self.catch_up(cluster)
            cluster.client.close()
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


def measure_idle(folder: Path) -> Figure:
    """Measure a fresh broker's resident set, and its growth by 1,000 idle partitions."""
    arguments = ("--brokers", "1", "--controllers", "1")
    with running_cluster(folder / "idle", *arguments) as running:
        cluster = BenchCluster(running, BenchClient(running.bootstrap_servers))
        before = cluster.resident_mb("broker-1")
        cluster.create_topic("idle", [(1,)] * 1000)
        after = cluster.resident_mb("broker-1")
        cluster.client.close()
    return {
        "value": round(before, 1),
        "unit": "MB",
        "floor": None,
        "ratio": None,
        "growth_per_1000_partitions": round(after - before, 1),
    }


def report(figures: dict[str, Figure]) -> None:
    """Print the figures."""
    table = Table(title="Ballast beside floors of the same run (medians)")
    for heading in ("measurement", "Ballast", "floor", "unit", "ratio"):
        table.add_column(heading, justify="left" if heading == "measurement" else "right")
    for name, figure in figures.items():
        row = (figure["value"], figure["floor"], figure["unit"], figure["ratio"])
        table.add_row(name, *("" if cell is None else str(cell) for cell in row))
    Console().print(table)
    if any(figure["unit"] in ("s", "% of a core") for figure in figures.values()):
        Console().print("Where the unit is s or % of a core, the floor is what it may take.")
    if IDLE in figures:
        growth = figures[IDLE]["growth_per_1000_partitions"]
        Console().print(f"An idle broker grows by {growth} MB per 1,000 idle partitions.")


def steps(folder: Path, names: Collection[str]) -> Iterator[tuple[str, Measurement]]:
    """Yield what is to be measured, by name, in the order of the table."""
    if {*names} & {*THROUGH_BROKERS}:
        yield "through brokers", partial(Bench(folder).brokers, names)
    for name in dict.fromkeys((FIRST_ALONE, IDLE, *ALONE)):
        if name in names:
            yield name, partial(_alone, folder, name)


def _alone(folder: Path, name: str) -> dict[str, Figure]:
    return {name: measure_idle(folder) if name == IDLE else ALONE[name](folder)}


def main(names: Collection[str]) -> int:
    """Measure what is named, or everything; 1 when something failed, 2 for a name that is none.

    Each figure is in the file as soon as it is known, and what fails is left out.
    """
    unknown = sorted({*names} - {*NAMES})
    if unknown:
        print(f"no such measurement: {', '.join(unknown)}; there are: {', '.join(NAMES)}")
        return 2
    figures: dict[str, Figure] = json.loads(REPORT.read_text()) if names and REPORT.exists() else {}
    failed = []
    REPORT.parent.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="ballast-bench-") as folder:
        for name, measurement in steps(Path(folder), names or NAMES):
            try:
                figures |= measurement()
            except Exception:  # noqa: BLE001 - whatever it is, the others are measured
                traceback.print_exc()
                failed.append(name)
            REPORT.write_text(json.dumps(figures, indent=2) + "\n")
    report(figures)
    if failed:
        print(f"not measured: {', '.join(failed)}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
