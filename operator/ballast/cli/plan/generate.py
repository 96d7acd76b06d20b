"""``ballast plan generate``: a plan from a snapshot, without a cluster."""

import hashlib
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from enum import StrEnum
from importlib.util import find_spec
from pathlib import Path
from typing import TextIO, TypeVar

from ballast.cli.plan.files import FileUnusable, load_snapshot, write_file
from ballast.model.quantity import parse_quantity
from ballast.planner.errors import Infeasible, OptionsRejected, SnapshotRejected
from ballast.planner.explain.target import Target
from ballast.planner.options import Objective, PlanOptions, Strategy
from ballast.planner.plan import plan_targets
from ballast.reassign.plan.kafka_json import reassignment_json
from ballast.reassign.plan.lines import PlanLine
from ballast.reassign.plan.plan import moves_of
from ballast.reassign.plan.planned_lines import planned_lines
from ballast.reassign.plan.summary import PlanSummarizer
from ballast.spark.errors import PlanJobFailed

EXIT_DONE = 0
EXIT_INFEASIBLE = 1
EXIT_INVALID = 2

EXIT_FAILED = 3

_MAX_DIGITS = 10
_NEEDED_BY_SPARK = ("pyspark", "pyarrow", "pandas")
_Choice = TypeVar("_Choice", bound=StrEnum)


class PlanFormat(StrEnum):
    """``--format``: how the plan is written."""

    BALLAST = "ballast"
    """Lines of ``ballast-plan/v1``."""
    KAFKA = "kafka"
    """What kafka-reassign-partitions executes."""


class Engine(StrEnum):
    """``--engine``: what computes the plan."""

    IN_PROCESS = "inprocess"
    SPARK = "spark"
    """PySpark on this machine: the same plan."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GenerateOptions:
    """What the command line says, word for word."""

    snapshot: Path
    out: Path
    strategy: str
    broker_ids: str = ""
    """Numbers with commas between them."""
    replication_factor: int | None = None
    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    max_replica_moves: int | None = None
    max_bytes_to_move: str | None = None
    """A quantity: ``2Ti``."""
    start_index: int | None = None
    objective: str = Objective.BYTES.value
    seed: int = 0
    engine: str = Engine.IN_PROCESS.value
    format: str = PlanFormat.BALLAST.value


def main(options: GenerateOptions) -> int:
    """Run the command.

    Returns 0, 1 when no plan does what is request, 2 when the input is wrong, 3 when Spark fails.
    """
    return generate(options, sys.stdout, sys.stderr)


def generate(options: GenerateOptions, out: TextIO, errors: TextIO) -> int:
    """Make a plan and write it; return the exit code."""
    try:
        _generate(options, out)
    except Infeasible as error:
        errors.write(f"No such plan: {error}\n")
        return EXIT_INFEASIBLE
    except (OptionsRejected, SnapshotRejected, FileUnusable) as error:
        errors.write(f"{error}\n")
        return EXIT_INVALID
    except PlanJobFailed as error:
        errors.write(f"{error}\n")
        return EXIT_FAILED
    return EXIT_DONE


def plan_options(options: GenerateOptions) -> PlanOptions:
    """Return the options of the plan. Raises `OptionsRejected`."""
    return PlanOptions(
        strategy=_choice(Strategy, "strategy", options.strategy),
        broker_ids=_broker_ids(options.broker_ids),
        replication_factor=options.replication_factor,
        include=options.include,
        exclude=options.exclude,
        max_replica_moves=options.max_replica_moves,
        max_bytes_to_move=_quantity("maxBytesToMove", options.max_bytes_to_move),
        start_index=options.start_index,
        objective=_choice(Objective, "objective", options.objective),
        seed=options.seed,
    )


def _generate(options: GenerateOptions, out: TextIO) -> None:
    engine = _choice(Engine, "engine", options.engine)
    written_as = _choice(PlanFormat, "format", options.format)
    request = plan_options(options)
    with _planned(engine, options.snapshot, request) as planned:
        _write(options, planned, written_as, out)


@contextmanager
def _planned(engine: Engine, snapshot: Path, options: PlanOptions) -> Iterator[Iterator[PlanLine]]:
    """Give the lines of the plan."""
    if engine is Engine.IN_PROCESS:
        columns = load_snapshot(snapshot)
        table = plan_targets(columns, options)
        yield planned_lines(columns, Target.of(columns, options.strategy, table))
        return
    missing = [name for name in _NEEDED_BY_SPARK if find_spec(name) is None]
    if missing:
        raise OptionsRejected(
            "engine", f"spark needs {' and '.join(missing)}: install ballast[spark]"
        )
    assert engine is Engine.SPARK, "there are two engines"
    # PySpark is not in the base installation.
    from ballast.cli.plan import spark

    with spark.lines_from_spark(snapshot, options) as lines:
        yield lines


def _write(
    options: GenerateOptions, planned: Iterator[PlanLine], written_as: PlanFormat, out: TextIO
) -> None:
    summarizer = PlanSummarizer()
    digest = hashlib.sha256()

    def lines() -> Iterator[PlanLine]:
        for line in planned:
            summarizer.add(line)
            digest.update(line.encode() + b"\n")
            yield line

    write_file(options.out, _text(lines(), written_as))
    plan = summarizer.summary(f"sha256:{digest.hexdigest()}")
    out.write(
        f"{plan.digest}\n{plan.partitions} partitions, {plan.replica_moves} replicas to move, "
        + (f"{plan.log_dir_moves} between log dirs, " if plan.log_dir_moves else "")
        + f"{plan.leader_changes} other preferred leaders: {options.out}\n"
    )


def _text(lines: Iterable[PlanLine], written_as: PlanFormat) -> Iterator[bytes]:
    if written_as is PlanFormat.KAFKA:
        moves = (move for line in lines for move in moves_of(line))
        for piece in reassignment_json(
            (move.topic_partition, move.target, move.wanted_log_dirs) for move in moves
        ):
            yield piece.encode()
        return
    for line in lines:
        yield line.encode() + b"\n"


def _choice(kinds: type[_Choice], option: str, word: str) -> _Choice:
    """Return the member that a word means, in any case. Raises `OptionsRejected`."""
    for kind in kinds:
        if kind.value.lower() == word.lower():
            return kind
    choices = ", ".join(kind.value for kind in kinds)
    raise OptionsRejected(option, f"{word[:40]!r} is none of {choices}")


def _broker_ids(text: str) -> tuple[int, ...]:
    words = [word.strip() for word in text.split(",")] if text else []
    for word in words:
        if not (word.isascii() and word.isdigit() and len(word) <= _MAX_DIGITS):
            raise OptionsRejected("brokerIds", f"{word[:40]!r} is no broker id")
    return tuple(map(int, words))


def _quantity(option: str, text: str | None) -> int | None:
    try:
        return None if text is None else parse_quantity(text)
    except ValueError as error:
        raise OptionsRejected(option, str(error)) from error
