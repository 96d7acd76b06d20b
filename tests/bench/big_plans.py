"""``python -m tests.bench.big_plans [PARTITIONS [BROKERS]]``: a plan in this process, and on Spark.

A tenth as many brokers come to a cluster of so many, whose partitions have three replicas in five
racks. Both engines read the same snapshot from a file and write the plan into one, each in a
process of its own; both plans must be the same. Seconds are those of the clock: Spark's, with two
cores, after its session has begun. Memory is the most that a process has held, and of the Java
process also what is live in its heap at the end. No part of ``make bench``: there is no floor.
"""

import contextlib
import io
import json
import random
import resource
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

from ballast.cli.plan.files import read_pieces, write_file
from ballast.cli.plan.generate import GenerateOptions, generate, plan_options
from ballast.spark.session import local_session
from ballast.spark.spark_plan import SparkPlan

PARTITIONS = 1_000_000
BROKERS = 1000
PER_TOPIC = 200
RACKS = 5
REPLICAS = 3
CORES = "2"

Report = dict[str, float]


def snapshot_lines(partitions: int, brokers: int) -> Iterator[bytes]:
    """Yield a snapshot of brokers that have about as much each, and of a tenth as many new ones."""
    told = [{"id": i, "rack": f"rack-{i % RACKS}"} for i in range(brokers + brokers // 10)]
    yield json.dumps({"format": "ballast-snapshot/v1", "brokers": told}).encode() + b"\n"
    chance = random.Random(partitions)
    stride = max(1, brokers // RACKS // REPLICAS) * RACKS
    for topic in range(partitions // PER_TOPIC):
        firsts = [chance.randrange(brokers) for _ in range(PER_TOPIC)]
        replicas = [
            [(first + place * (stride + 1)) % brokers for place in range(REPLICAS)]
            for first in firsts
        ]
        sizes = [chance.randrange(1, 1 << 34) for _ in range(PER_TOPIC)]
        document = {"topic": f"topic-{topic}", "replicas": replicas, "bytes": sizes}
        yield json.dumps(document, separators=(",", ":")).encode() + b"\n"


def asked(folder: Path, brokers: int, engine: str) -> GenerateOptions:
    """Return what is asked of an engine."""
    return GenerateOptions(
        snapshot=folder / "snapshot.jsonl",
        out=folder / f"{engine}.plan",
        strategy="AddBrokers",
        broker_ids=",".join(str(i) for i in range(brokers, brokers + brokers // 10)),
    )


def in_process(folder: Path, brokers: int) -> Report:
    """Make the plan as the command line does."""
    began = time.perf_counter()
    assert generate(asked(folder, brokers, "inprocess"), io.StringIO(), sys.stderr) == 0
    return {"seconds": time.perf_counter() - began, "peak_mb": _peak_mb()}


def on_spark(folder: Path, brokers: int) -> Report:
    """Make the plan on Spark."""
    options = asked(folder, brokers, "spark")
    with local_session(CORES) as session:
        began = time.perf_counter()
        with SparkPlan(
            session, lambda: read_pieces(options.snapshot), plan_options(options)
        ) as plan:
            write_file(options.out, (line + b"\n" for line in plan.lines()))
        seconds = time.perf_counter() - began
        jvm = session._jvm
        assert jvm is not None
        runtime = jvm.java.lang.Runtime.getRuntime()
        runtime.gc()
        heap = runtime.totalMemory() - runtime.freeMemory()
        java = _peak_mb_of(int(jvm.java.lang.ProcessHandle.current().pid()))
    return {
        "seconds": seconds,
        "peak_mb": _peak_mb(),
        "java_peak_mb": java,
        "java_live_mb": heap / 1024**2,
    }


ENGINES: dict[str, Callable[[Path, int], Report]] = {"inprocess": in_process, "spark": on_spark}


def main(partitions: int, brokers: int) -> None:
    """Measure both engines, and compare their plans."""
    with TemporaryDirectory() as name:
        folder = Path(name)
        write_file(folder / "snapshot.jsonl", snapshot_lines(partitions, brokers))
        for engine in ENGINES:
            report = _in_child(engine, folder, brokers)
            told = "  ".join(f"{what} {number:.1f}" for what, number in report.items())
            print(f"{partitions} x {brokers}+{brokers // 10}  {engine:9}  {told}", flush=True)
        plans = [(folder / f"{engine}.plan").read_bytes() for engine in ENGINES]
        assert plans[0] == plans[1], "the engines differ"
        print(f"one plan of {len(plans[0])} bytes")


def _in_child(engine: str, folder: Path, brokers: int) -> Report:
    argv = [sys.executable, "-m", "tests.bench.big_plans", engine, str(folder), str(brokers)]
    done = subprocess.run(argv, check=True, stdout=subprocess.PIPE)
    report: Report = json.loads(done.stdout.splitlines()[-1])
    return report


def _peak_mb() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def _peak_mb_of(pid: int) -> float:
    status = Path(f"/proc/{pid}/status").read_text()
    peak = next(line for line in status.splitlines() if line.startswith("VmHWM:"))
    return int(peak.split()[1]) / 1024


if __name__ == "__main__":
    if sys.argv[1:2] and sys.argv[1] in ENGINES:
        with contextlib.redirect_stdout(sys.stderr):
            found = ENGINES[sys.argv[1]](Path(sys.argv[2]), int(sys.argv[3]))
        print(json.dumps(found))
    else:
        given = [int(word) for word in sys.argv[1:3]]
        main(*given, *(PARTITIONS, BROKERS)[len(given) :])
