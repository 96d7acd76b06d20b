import asyncio
import random

from ballast.broker.replicas.purgatories import Purgatories
from ballast.model.ids import TopicPartition
from ballast.purgatory.operation import DelayedOperation
from tests.simulation.loop import SimulatedLoop, run

P0, P1 = TopicPartition("t", 0), TopicPartition("t", 1)


class Waiting(DelayedOperation):
    def __init__(self, timeout_ms: int, purgatories: Purgatories) -> None:
        super().__init__(timeout_ms)
        self.purgatories = purgatories
        self.may_end = False
        self.ended_at: float | None = None
        self.tried_for: list[TopicPartition | None] = []

    def try_complete(self) -> bool:
        self.tried_for.append(self.purgatories.changed)
        return self.may_end and self.force_complete()

    def on_complete(self) -> None:
        self.ended_at = asyncio.get_running_loop().time()


def test_operations_end_in_time_whichever_comes_first() -> None:
    async def main(_: SimulatedLoop) -> list[float | None]:
        purgatories = Purgatories(10, random.Random(1))
        late, soon = Waiting(5000, purgatories), Waiting(100, purgatories)
        purgatories.wait_for_replicas(late, [P0])
        purgatories.wait_for_records(soon, [P0])
        await asyncio.sleep(6)
        return [soon.ended_at, late.ended_at]

    soon, late = run(1, main)[0]
    assert soon is not None
    assert late is not None
    assert 0.1 <= soon <= 0.102
    assert 5.0 <= late <= 5.002


async def test_a_high_watermark_wakes_both_and_says_of_which_partition() -> None:
    purgatories = Purgatories(10, random.Random(1))
    produce, fetch = Waiting(5000, purgatories), Waiting(5000, purgatories)
    purgatories.wait_for_replicas(produce, [P0])
    purgatories.wait_for_records(fetch, [P0, P1])
    produce.may_end = fetch.may_end = True
    purgatories.high_watermark_advanced(P0)
    assert produce.is_completed
    assert fetch.is_completed
    assert fetch.tried_for == [None, P0]
    assert purgatories.changed is None
    purgatories.shut_down()


async def test_an_append_wakes_fetches_only() -> None:
    purgatories = Purgatories(10, random.Random(1))
    produce, fetch = Waiting(5000, purgatories), Waiting(5000, purgatories)
    purgatories.wait_for_replicas(produce, [P0])
    purgatories.wait_for_records(fetch, [P0])
    produce.may_end = fetch.may_end = True
    purgatories.appended(P0)
    assert fetch.is_completed
    assert not produce.is_completed
    purgatories.shut_down()


async def test_shutting_down_answers_whatever_waits() -> None:
    purgatories = Purgatories(10, random.Random(1))
    operations = [Waiting(60_000, purgatories) for _ in range(3)]
    for operation in operations:
        purgatories.wait_for_records(operation, [P0])
    purgatories.shut_down()
    assert all(operation.is_completed for operation in operations)
