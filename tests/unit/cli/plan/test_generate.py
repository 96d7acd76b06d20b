import hashlib
import io
import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from ballast.cli.plan import generate as module
from ballast.cli.plan import spark
from ballast.cli.plan.generate import (
    EXIT_DONE,
    EXIT_FAILED,
    EXIT_INFEASIBLE,
    EXIT_INVALID,
    GenerateOptions,
    generate,
    main,
    plan_options,
)
from ballast.planner.options import PlanOptions, Strategy
from ballast.reassign.plan.kafka_json import check_executable, parse_reassignment_json
from ballast.reassign.plan.lines import LogDirMove, PlanLine
from ballast.reassign.plan.plan import Plan
from ballast.spark.errors import PlanJobFailed

SNAPSHOT = """\
{"format":"ballast-snapshot/v1","brokers":[{"id":1},{"id":2},{"id":3}]}
{"topic":"t","replicas":[[1,2],[2,1],[1,2]]}
{"topic":"s","replicas":[[1,2],[2,1],[1,2]]}
"""


@pytest.fixture
def snapshot(tmp_path: Path) -> Path:
    path = tmp_path / "snapshot.jsonl"
    path.write_text(SNAPSHOT)
    return path


def run(snapshot: Path, **more: Any) -> tuple[int, str, str]:
    given = {"strategy": "AddBrokers", "broker_ids": "3", **more}
    out, errors = io.StringIO(), io.StringIO()
    options = GenerateOptions(snapshot=snapshot, out=snapshot.with_name("plan"), **given)
    code = generate(options, out, errors)
    return code, out.getvalue(), errors.getvalue()


def test_a_plan_is_written_and_its_digest_said(snapshot: Path) -> None:
    code, said, errors = run(snapshot)
    assert (code, errors) == (EXIT_DONE, "")
    text = snapshot.with_name("plan").read_bytes()
    digest = f"sha256:{hashlib.sha256(text).hexdigest()}"
    plan = Plan.from_lines(text.decode().splitlines())
    assert plan.digest == digest
    assert plan.replica_moves == 4
    assert all(move.adding == (3,) for move in plan.moves)
    assert said.splitlines()[0] == digest


def test_the_order_of_the_lines_means_nothing(snapshot: Path) -> None:
    _, said, _ = run(snapshot)
    head, *topics = SNAPSHOT.splitlines(keepends=True)
    snapshot.write_text("".join([head, *reversed(topics)]))
    assert run(snapshot)[1] == said


def test_the_seed_decides_between_equals(snapshot: Path) -> None:
    topics = [f'{{"topic":"t{number}","replicas":[[1,2]]}}' for number in range(30)]
    snapshot.write_text("\n".join([SNAPSHOT.splitlines()[0], *topics]))
    assert len({run(snapshot, seed=seed)[1].splitlines()[0] for seed in range(3)}) == 3


def test_kafka_can_read_it(snapshot: Path) -> None:
    assert run(snapshot, format="kafka")[0] == EXIT_DONE
    text = snapshot.with_name("plan").read_text()
    targets = check_executable(parse_reassignment_json(text))
    run(snapshot)
    plan = Plan.from_lines(snapshot.with_name("plan").read_text().splitlines())
    assert targets == plan.targets
    assert json.loads(text)["version"] == 1


def test_kafka_is_told_the_directories(snapshot: Path) -> None:
    snapshot.write_text(
        '{"format":"ballast-snapshot/v1","brokers":[{"id":1,"logDirs":["/a","/b"]},{"id":2}]}\n'
        '{"topic":"t","replicas":[[1,2],[2,1]],"logDirs":[["/a",null],[null,"/a"]],"bytes":[5,5]}\n'
    )
    given = {"strategy": "RebalanceLogDirs", "broker_ids": ""}
    code, said, _ = run(snapshot, **given, format="kafka")
    assert code == EXIT_DONE
    assert "1 partitions, 0 replicas to move, 1 between log dirs" in said
    (entry,) = parse_reassignment_json(snapshot.with_name("plan").read_text())
    assert dict(zip(entry.replicas, entry.log_dirs, strict=True)) == {1: "/b", 2: "any"}
    run(snapshot, **given)
    (move,) = Plan.from_lines(snapshot.with_name("plan").read_text().splitlines()).moves
    assert (move.topic_partition, move.log_dirs) == (
        entry.topic_partition,
        (LogDirMove(1, "/a", "/b"),),
    )


def test_nothing_to_do_is_a_plan_too(snapshot: Path) -> None:
    code, said, _ = run(snapshot, strategy="repairracks", broker_ids="")
    assert code == EXIT_DONE
    assert "0 partitions, 0 replicas to move" in said
    assert snapshot.with_name("plan").read_bytes() == b""


def test_what_cannot_be_done(snapshot: Path) -> None:
    code, _, errors = run(snapshot, strategy="RemoveBrokers", broker_ids="1,3")
    assert code == EXIT_INFEASIBLE
    assert errors.startswith("No such plan: s-0: has 2 replicas, and only 1 brokers stay")
    assert not snapshot.with_name("plan").exists()


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ({"strategy": "Shuffle"}, "strategy: 'Shuffle' is none of AddBrokers, RemoveBrokers"),
        ({"engine": "flink"}, "engine: 'flink' is none of inprocess, spark"),
        ({"format": "xml"}, "format: 'xml' is none of ballast, kafka"),
        ({"broker_ids": "3,x"}, "brokerIds: 'x' is no broker id"),
        ({"broker_ids": "3,"}, "brokerIds: '' is no broker id"),
        ({"broker_ids": "9"}, "brokerIds: broker 9 is not in the snapshot"),
        ({"max_bytes_to_move": "2Tx"}, "maxBytesToMove: is not a quantity"),
    ],
)
def test_what_is_asked_for_wrongly(snapshot: Path, more: dict[str, Any], message: str) -> None:
    code, said, errors = run(snapshot, **more)
    assert (code, said) == (EXIT_INVALID, "")
    assert errors.startswith(message)


def test_a_snapshot_that_is_none(snapshot: Path) -> None:
    snapshot.write_text("{}\n")
    assert run(snapshot)[::2] == (EXIT_INVALID, "line 1: Object missing required field `format`\n")
    snapshot.unlink()
    assert run(snapshot)[0] == EXIT_INVALID


def test_all_options_are_handed_on() -> None:
    options = plan_options(
        GenerateOptions(
            snapshot=Path("s"),
            out=Path("o"),
            strategy="REBALANCE",
            broker_ids="2, 1",
            include=("a",),
            exclude=("b",),
            max_replica_moves=5,
            max_bytes_to_move="1Ki",
            seed=7,
        )
    )
    assert options.strategy is Strategy.REBALANCE
    assert options.broker_ids == (2, 1)
    assert (options.include, options.exclude) == (("a",), ("b",))
    assert (options.max_replica_moves, options.max_bytes_to_move) == (5, 1024)
    assert options.seed == 7


def test_the_command(snapshot: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = snapshot.with_name("plan")
    assert main(GenerateOptions(snapshot=snapshot, out=out, strategy="Rebalance")) == EXIT_DONE
    assert capsys.readouterr().out.startswith("sha256:")


def test_without_spark_it_is_said_what_is_missing(
    snapshot: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "find_spec", lambda name: None if name == "pyarrow" else name)
    code, _, errors = run(snapshot, engine="spark")
    assert code == EXIT_INVALID
    assert errors == "engine: spark needs pyarrow: install ballast[spark]\n"


@pytest.mark.parametrize("works", [True, False])
def test_what_spark_plans_is_written(
    snapshot: Path, monkeypatch: pytest.MonkeyPatch, *, works: bool
) -> None:
    line = PlanLine(topic="t", partitions=(0,), origins=((1, 2),), targets=((3, 2),))
    monkeypatch.setattr(module, "find_spec", lambda name: name)

    @contextmanager
    def lines_from_spark(_path: Path, _options: PlanOptions) -> Iterator[Iterator[PlanLine]]:
        if not works:
            raise PlanJobFailed("Spark: no Java")
        yield iter([line])

    monkeypatch.setattr(spark, "lines_from_spark", lines_from_spark)
    code, said, errors = run(snapshot, engine="Spark")
    if works:
        assert code == EXIT_DONE
        text = snapshot.with_name("plan").read_bytes()
        assert text == line.encode() + b"\n"
        assert said.startswith(f"sha256:{hashlib.sha256(text).hexdigest()}")
    else:
        assert (code, errors) == (EXIT_FAILED, "Spark: no Java\n")
