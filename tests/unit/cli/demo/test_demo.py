"""The demo's own decisions; the whole of it runs in tests/interop."""

import asyncio
import socket
import sys
from pathlib import Path

import pytest

from ballast.cli.demo import demo
from ballast.cli.demo.demo import DemoFailed, Move
from ballast.cli.demo.demo_screen import BrokerRow
from ballast.cli.embedded.workload import Verdict
from ballast.cli.run.manifest_file import ManifestFile
from ballast.model.ids import TopicPartition
from ballast.reassign.ports import ClusterView, PartitionView
from tests.interop.ports import port_range

TARGET = demo.without(demo.LEAVING_BROKER, demo.first_assignments())


async def move_that_prints(*lines: str, then: str = "") -> Move:
    script = "".join(f"print({line!r}, flush=True)\n" for line in lines) + then
    return Move(
        await asyncio.create_subprocess_exec(
            sys.executable, "-c", script, stdout=asyncio.subprocess.PIPE
        )
    )


def test_every_broker_has_as_many_replicas_and_leaders_at_the_start() -> None:
    placed = demo.first_assignments().values()
    assert len(placed) == 12
    everywhere = sorted(broker for replicas in placed for broker in replicas)
    assert everywhere == sorted([1, 2, 3, 4] * 9)
    assert sorted(replicas[0] for replicas in placed) == sorted([1, 2, 3, 4] * 3)


def test_the_plan_takes_everything_off_one_broker_and_leaves_the_rest_where_it_is() -> None:
    for number, before in demo.first_assignments().items():
        after = TARGET[number]
        assert demo.LEAVING_BROKER not in after
        assert len(set(after)) == len(before)
        kept = [(b, a) for b, a in zip(before, after, strict=True) if b != demo.LEAVING_BROKER]
        assert all(b == a for b, a in kept)


def test_the_manifest_is_one_that_ballast_run_takes(tmp_path: Path) -> None:
    demo.write_manifest(tmp_path / "move.yaml", TARGET)
    spec = ManifestFile(tmp_path / "move.yaml").read()
    assert spec.name == "move-off-3"
    assert spec.settings.execution.throttle_bytes_per_second == 10 * 1024 * 1024
    assert spec.targets == {
        TopicPartition("demo", number): replicas for number, replicas in TARGET.items()
    }


@pytest.mark.parametrize(
    ("moved", "left", "is_half_done"),
    [(0, 0, False), (0, 10, False), (4, 6, False), (5, 5, True), (9, 1, True), (10, 0, False)],
)
async def test_half_way(moved: int, left: int, is_half_done: bool) -> None:
    progress = {"bytesMoved": moved, "bytesRemaining": left}
    move = await move_that_prints()
    await move.process.wait()
    move.status = {"progress": progress}
    assert move.is_half_done is is_half_done


async def test_the_status_is_followed_as_it_comes() -> None:
    waits = "import time; time.sleep(60)"
    move = await move_that_prints('{"n": 1}', '{"n": 2}', then=waits)
    try:
        async with asyncio.timeout(10):
            while move.status != {"n": 2}:
                assert await move.follow(0.01)
    finally:
        move.process.kill()
    assert not await move.follow(10)
    await move.process.wait()


def test_the_screen_is_told_of_every_broker() -> None:
    partitions = {
        TopicPartition("demo", 0): PartitionView(
            topic_partition=TopicPartition("demo", 0), leader=1, replicas=(1, 2), isr=(1,)
        ),
        TopicPartition("demo", 1): PartitionView(
            topic_partition=TopicPartition("demo", 1), leader=1, replicas=(1, 4), isr=(1, 4)
        ),
    }
    cluster = ClusterView(cluster_id="c", controller_id=1, brokers=(), partitions=partitions)
    assert demo.broker_rows(cluster) == [
        BrokerRow(broker_id=1, leaders=2, replicas=2, in_sync=2),
        BrokerRow(broker_id=2, leaders=0, replicas=1, in_sync=0),
        BrokerRow(broker_id=3, leaders=0, replicas=0, in_sync=0),
        BrokerRow(broker_id=4, leaders=0, replicas=1, in_sync=1),
    ]


def test_the_last_line() -> None:
    verdict = Verdict(acknowledged=200_123, lost=0, duplicated=0)
    assert demo.conclusion(9, 160_400_000, 1, verdict) == (
        "demo: moved 9 partitions (160 MB) through 1 controller failover; "
        "200123 records acknowledged, 0 lost, 0 duplicated"
    )


@pytest.mark.parametrize(("lost", "duplicated"), [(1, 0), (0, 1)])
def test_a_lost_or_doubled_record_is_a_failure(lost: int, duplicated: int) -> None:
    verdict = Verdict(acknowledged=10, lost=lost, duplicated=duplicated)
    with pytest.raises(DemoFailed, match=f"{lost} records lost, {duplicated} duplicated"):
        demo.conclusion(9, 1, 1, verdict)


def test_a_demo_that_cannot_start_says_why(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with port_range() as base_port, socket.create_server(("127.0.0.1", base_port)):
        assert demo.main(directory=tmp_path, base_port=base_port) == 1
    error = capsys.readouterr().err
    assert error == f"demo: port {base_port} cannot be listened on: Address already in use\n"
