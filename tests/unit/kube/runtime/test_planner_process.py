"""The process that makes plans: it answers, or it is known why it did not."""

import asyncio
import io
import subprocess
import sys
import zlib
from pathlib import Path

import msgspec
import pytest

from ballast.kube.runtime.planner_process import (
    InfeasiblePlan,
    PlannerFailed,
    PlannerProcesses,
    PlannerRequest,
    PlannerResult,
    WrittenPlan,
    make_plan,
    memory_left,
    run_planner_process,
    work,
)
from ballast.reassign.plan.index import CHUNK_KEY, ChunkReference, PlanIndex
from ballast.reassign.plan.reader import read_plan

HEAD = b'{"format":"ballast-snapshot/v1","brokers":[{"id":1},{"id":2},{"id":3}]}\n'
TOPIC = b'{"topic":"t","replicas":[[1,2],[2,1],[1,2]],"bytes":[5,5,5]}\n'
GZIP = 16 + zlib.MAX_WBITS


def gzipped(text: bytes) -> bytes:
    packer = zlib.compressobj(wbits=GZIP)
    return packer.compress(text) + packer.flush()


def request(strategy: str = "Rebalance", **options: object) -> PlannerRequest:
    chunks = (gzipped(HEAD), gzipped(TOPIC))
    return PlannerRequest(options={"strategy": strategy, **options}, chunks=chunks)


def test_a_plan_is_what_its_chunks_are() -> None:
    made = make_plan(request())
    assert isinstance(made, WrittenPlan)
    assert made.replica_moves == made.summary["replicaMovesLeast"] == 2
    index = PlanIndex(
        format="ballast-plan/v1",
        digest=made.digest,
        partitions=made.partitions,
        replica_moves=made.replica_moves,
        leader_changes=made.leader_changes,
        chunks=tuple(
            ChunkReference(
                name="c",
                digest=chunk.digest,
                stored_bytes=len(chunk.data),
                text_bytes=chunk.text_bytes,
                partitions=chunk.partitions,
            )
            for chunk in made.chunks
        ),
    )
    lines = list(read_plan(index, [chunk.data for chunk in made.chunks]))
    assert sum(len(line.partitions) for line in lines) == made.partitions
    assert CHUNK_KEY == "plan.gz"


def test_it_does_not_matter_how_the_snapshot_was_cut() -> None:
    whole = PlannerRequest(options={"strategy": "Rebalance"}, chunks=(gzipped(HEAD + TOPIC),))
    assert make_plan(whole) == make_plan(request())


def test_no_plan_is_an_answer() -> None:
    made = make_plan(request("SetReplicationFactor", replicationFactor=4))
    assert isinstance(made, InfeasiblePlan)
    assert made.infeasible["partitions"] == ["t-0"]
    assert isinstance(make_plan(request("AddBrokers", brokerIds=[9])), InfeasiblePlan)


def test_question_and_answer_are_one_value_each() -> None:
    target = io.BytesIO()
    work(io.BytesIO(msgspec.msgpack.encode(request())), target)
    answer: PlannerResult = msgspec.msgpack.decode(
        target.getvalue(), type=WrittenPlan | InfeasiblePlan
    )
    assert answer == make_plan(request())


async def test_a_process_of_its_own_gives_the_same() -> None:
    workers = PlannerProcesses()
    async with asyncio.TaskGroup() as tasks:
        made = [tasks.create_task(workers(request())) for _ in range(2)]
    assert [task.result() for task in made] == [make_plan(request())] * 2


@pytest.mark.parametrize(
    ("program", "reason", "message"),
    [
        ("import os; os.kill(os.getpid(), 9)", "OutOfMemory", "was killed"),
        ("raise MemoryError('no more')", "OutOfMemory", "MemoryError: no more"),
        ("raise ValueError('odd')", "PlannerFailed", "ValueError: odd"),
        ("import sys; sys.stdin.read(); sys.exit(3)", "PlannerFailed", "it ended with 3"),
    ],
)
async def test_a_process_that_dies_is_told_of(
    program: str, reason: str, message: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    script = tmp_path / "python"
    script.write_text(f"#!{sys.executable}\n{program}\n")
    script.chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(script))
    with pytest.raises(PlannerFailed, match=message) as failed:
        await run_planner_process(request())
    assert failed.value.reason == reason


@pytest.mark.parametrize(
    ("files", "left"),
    [
        ({"memory.max": "1000\n", "memory.current": "300\n"}, 700),
        ({"memory.max": "100", "memory.current": "300"}, 0),
        ({"memory.max": "max", "memory.current": "300"}, None),
        (
            {"memory/memory.limit_in_bytes": "50", "memory/memory.usage_in_bytes": "20"},
            30,
        ),
        (
            {
                "memory/memory.limit_in_bytes": "9223372036854771712",
                "memory/memory.usage_in_bytes": "20",
            },
            None,
        ),
        ({}, None),
    ],
)
def test_what_the_container_has_left(
    files: dict[str, str], left: int | None, tmp_path: Path
) -> None:
    (tmp_path / "memory").mkdir()
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    assert memory_left(tmp_path) == left


def test_it_runs_out_of_memory_before_its_container_does() -> None:
    program = (
        "from ballast.kube.runtime.planner_process import limit_memory; limit_memory(300 * 2**20); "
        "limited = bytearray(400 * 2**20)"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=False
    )
    assert done.returncode == 1
    assert done.stderr.splitlines()[-1] == "MemoryError"
