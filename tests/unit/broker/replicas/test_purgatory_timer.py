import asyncio

import uvloop

from ballast.broker.replicas.purgatory_timer import PurgatoryTimer
from ballast.purgatory.operation import DelayedOperation
from tests.simulation.loop import SimulatedLoop, run


class Wait(DelayedOperation):
    def __init__(self, timeout_ms: int, ended: list[float]) -> None:
        super().__init__(timeout_ms)
        self._ended = ended

    def try_complete(self) -> bool:
        return False

    def on_complete(self) -> None:
        self._ended.append(round(asyncio.get_running_loop().time() * 1000))


def test_each_purgatorys_waits_end_in_time() -> None:
    async def main(loop: SimulatedLoop) -> None:
        timer, ended = PurgatoryTimer(), list[float]()
        one, other = timer.purgatory(), timer.purgatory()
        begin_ms = round(loop.time() * 1000)
        for purgatory, timeout_ms in ((one, 300), (other, 100), (one, 200)):
            purgatory.try_complete_else_watch(Wait(timeout_ms, ended), ("key",), timer.now())
        await asyncio.sleep(1)
        assert [at - begin_ms for at in ended] == [100, 200, 300]

    run(1, main)


def test_the_end_ends_every_wait() -> None:
    async def main(_loop: SimulatedLoop) -> None:
        timer, ended = PurgatoryTimer(), list[float]()
        for purgatory in (timer.purgatory(), timer.purgatory()):
            purgatory.try_complete_else_watch(Wait(100, ended), ("key",), timer.now())
        timer.shut_down()
        assert len(ended) == 2
        await asyncio.sleep(1)
        assert len(ended) == 2

    run(1, main)


def test_waits_may_begin_while_another_is_due_on_the_loop_that_brokers_use() -> None:
    # uvloop's handle of what is due at once has no time.
    async def main() -> None:
        timer, ended = PurgatoryTimer(), list[float]()
        purgatories = [timer.purgatory() for _ in range(3)]
        began = timer.now()
        async with asyncio.timeout(5):
            while timer.now() < began + 0.003:
                await asyncio.sleep(0)
            for purgatory in purgatories:
                purgatory.try_complete_else_watch(Wait(1, ended), ("key",), began)
            assert not ended, "their time is up, but the timer has not fired yet"
            while len(ended) < len(purgatories):
                await asyncio.sleep(0)

    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(main())
