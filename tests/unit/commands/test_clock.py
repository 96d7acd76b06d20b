import asyncio

from ballast.commands.clock import LoopClock


async def test_the_loops_time_and_the_walls() -> None:
    clock = LoopClock(lambda: 123)
    before = asyncio.get_running_loop().time()
    await clock.sleep(0)
    assert clock.now() >= before
    assert clock.wall_ms() == 123
