import asyncio

from ballast.cli.clock import LoopClock, wall_clock_ms


async def test_the_loops_time_and_the_walls() -> None:
    clock = LoopClock(lambda: 123)
    before = asyncio.get_running_loop().time()
    await clock.sleep(0)
    assert clock.now() >= before
    assert clock.wall_ms() == 123


def test_the_wall_clock_shows_milliseconds_of_this_century() -> None:
    assert 1_700_000_000_000 < wall_clock_ms() < 4_102_444_800_000
