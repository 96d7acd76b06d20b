"""Computes a plan in a process of its own, which frees all its memory when it ends.

The operator only waits for it: its event loop is not blocked while a plan for a million partitions
is computed. PlannerRequest and result are one MessagePack value each.
"""

import asyncio
import hashlib
import resource
import subprocess
import sys
import zlib
from collections.abc import Awaitable, Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, BinaryIO, Final

import msgspec

from ballast.planner.errors import PlannerError
from ballast.planner.explain.explain import explain
from ballast.planner.explain.explanation_document import explanation_document, infeasible_document
from ballast.planner.explain.target import Target
from ballast.planner.options_document import read_options
from ballast.planner.plan import plan_targets
from ballast.planner.snapshot.lines import read_snapshot
from ballast.reassign.plan.chunks import write_lines
from ballast.reassign.plan.planned_lines import planned_lines

OUT_OF_MEMORY: Final = "OutOfMemory"
PLANNER_FAILED: Final = "PlannerFailed"
CGROUP: Final = Path("/sys/fs/cgroup")
_MEMORY_FILES: Final = (
    ("memory.max", "memory.current"),
    ("memory/memory.limit_in_bytes", "memory/memory.usage_in_bytes"),
)
"""Of control groups version 2 and 1: the limit, and what is taken."""
_NO_LIMIT: Final = 2**60
_MARGIN_BYTES: Final = 64 * 1024 * 1024
_LEAST_BYTES: Final = 256 * 1024 * 1024
_KILLED: Final = -9
_SHOWN_BYTES: Final = 400


class PlannerRequest(msgspec.Struct, frozen=True, kw_only=True):
    """The options and the snapshot of a plan."""

    options: Mapping[str, Any]
    """``spec.plan.generate``, without engine and job."""
    chunks: tuple[bytes, ...]
    """The snapshot: gzip of whole lines each."""


class WrittenChunk(msgspec.Struct, frozen=True, kw_only=True):
    """One chunk of a plan."""

    data: bytes
    text_bytes: int
    partitions: int

    @property
    def digest(self) -> str:
        """``sha256:…`` of the stored bytes."""
        return f"sha256:{hashlib.sha256(self.data).hexdigest()}"


class WrittenPlan(msgspec.Struct, frozen=True, kw_only=True, tag=True):
    """A plan."""

    digest: str
    partitions: int
    replica_moves: int
    leader_changes: int
    log_dir_moves: int
    chunks: tuple[WrittenChunk, ...]
    summary: Mapping[str, Any]
    """``status.plan.summary``."""


class InfeasiblePlan(msgspec.Struct, frozen=True, kw_only=True, tag=True):
    """No plan satisfies the options."""

    infeasible: Mapping[str, Any]
    """``rule``, ``partitions``, ``remedy``, ``message``."""


class PlannerFailed(Exception):
    """The process ended without a result."""

    def __init__(self, reason: str, message: str) -> None:
        super().__init__(message)
        self.reason = reason
        """Of the condition Planned."""


PlannerResult = WrittenPlan | InfeasiblePlan
MakePlan = Callable[[PlannerRequest], Awaitable[PlannerResult]]
"""Makes a plan without blocking the event loop; raises `PlannerFailed`."""


class PlannerProcesses:
    """Implements `MakePlan`: one plan at a time, each in a process of its own."""

    def __init__(self) -> None:
        self._turn = asyncio.Semaphore(1)

    async def __call__(self, request: PlannerRequest) -> PlannerResult:
        """Make a plan once those before it are made. Raises `PlannerFailed`."""
        async with self._turn:
            return await run_planner_process(request)


async def run_planner_process(request: PlannerRequest) -> PlannerResult:
    """Make a plan in a process of its own. Raises `PlannerFailed`."""
    # The package's own interpreter and module, with nothing of a user's in the arguments.
    process = subprocess.Popen(  # noqa: ASYNC220  (starting takes milliseconds)
        [sys.executable, "-m", "ballast.kube.runtime.planner_process"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    try:
        text = msgspec.msgpack.encode(request)
        answer, errors = await asyncio.to_thread(process.communicate, text)
    finally:
        if process.poll() is None:
            process.kill()
    if process.returncode == _KILLED:
        raise PlannerFailed(OUT_OF_MEMORY, "the process that made the plan was killed")
    if process.returncode:
        said = errors[-_SHOWN_BYTES:].decode(errors="replace").strip().splitlines()[-1:]
        reason = OUT_OF_MEMORY if "MemoryError" in "".join(said) else PLANNER_FAILED
        raise PlannerFailed(reason, "".join(said) or f"it ended with {process.returncode}")
    decoded: PlannerResult = msgspec.msgpack.decode(answer, type=WrittenPlan | InfeasiblePlan)
    return decoded


def make_plan(request: PlannerRequest) -> PlannerResult:
    try:
        columns = read_snapshot(_texts(request.chunks))
        options = read_options(request.options)
        target = Target.of(columns, options.strategy, plan_targets(columns, options))
        made = write_lines(planned_lines(columns, target))
    except PlannerError as error:
        return InfeasiblePlan(infeasible=infeasible_document(error))
    return WrittenPlan(
        digest=made.summary.digest,
        partitions=made.summary.partitions,
        replica_moves=made.summary.replica_moves,
        leader_changes=made.summary.leader_changes,
        log_dir_moves=made.summary.log_dir_moves,
        chunks=tuple(
            WrittenChunk(data=chunk.data, text_bytes=chunk.text_bytes, partitions=chunk.partitions)
            for chunk in made.chunks
        ),
        summary=explanation_document(
            columns.brokers, explain(columns, target.replicas, log_dirs=target.log_dirs)
        ),
    )


def memory_left(cgroup: Path = CGROUP) -> int | None:
    """Return the bytes that this container may still take; None where there is no limit."""
    for limit, used in _MEMORY_FILES:
        try:
            most = (cgroup / limit).read_text().strip()
            taken = int((cgroup / used).read_text())
        except (OSError, ValueError):
            continue
        if most.isdecimal() and int(most) < _NO_LIMIT:
            return max(0, int(most) - taken)
    return None


def limit_memory(left_bytes: int | None) -> None:
    """Limit the memory of this process, so that it fails before its container is killed."""
    if left_bytes is not None:
        most = max(_LEAST_BYTES, left_bytes - _MARGIN_BYTES)
        resource.setrlimit(resource.RLIMIT_DATA, (most, most))


def work(source: BinaryIO, target: BinaryIO) -> None:
    """Read a request, write its result."""
    request = msgspec.msgpack.decode(source.read(), type=PlannerRequest)
    target.write(msgspec.msgpack.encode(make_plan(request)))
    target.flush()


def _texts(chunks: tuple[bytes, ...]) -> Iterator[bytes]:
    for chunk in chunks:
        yield zlib.decompress(chunk, 16 + zlib.MAX_WBITS)


if __name__ == "__main__":
    limit_memory(memory_left())
    work(sys.stdin.buffer, sys.stdout.buffer)
