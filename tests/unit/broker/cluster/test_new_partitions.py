from ballast.broker.cluster.new_partitions import with_timeouts
from ballast.protocol.error_codes import ErrorCode
from ballast.protocol.messages.admin.create_topics import CreatableTopicResult
from tests.simulation.loop import SimulatedLoop, run
from tests.unit.broker.cluster.test_metadata_cache import T0, T1, broker, filled, led_by

RESULTS = (
    CreatableTopicResult(name="t"),
    CreatableTopicResult(name="refused", error_code=ErrorCode.INVALID_PARTITIONS),
)


def test_what_is_led_is_answered_at_once() -> None:
    async def main(loop: SimulatedLoop) -> None:
        assert await with_timeouts(filled(), RESULTS, {"t": 2}, 5.0) == RESULTS
        assert loop.time() == 0

    run(1, main)


def test_what_is_led_later_is_waited_for() -> None:
    async def main(loop: SimulatedLoop) -> None:
        cache = filled()
        cache.update([(T1, led_by(3))], [broker(1), broker(2)], {})
        back = [broker(1), broker(2), broker(3)]
        loop.call_later(2.0, cache.update, [(T0, led_by(1))], back, {})
        assert await with_timeouts(cache, RESULTS, {"t": 2}, 5.0) == RESULTS
        assert loop.time() == 2.0

    run(1, main)


def test_what_is_not_led_in_time_is_told_so_and_nothing_else() -> None:
    async def main(loop: SimulatedLoop) -> None:
        late, refused = await with_timeouts(filled(), RESULTS, {"t": 3}, 1.5)
        assert loop.time() == 1.5
        assert (late.name, late.error_code) == ("t", ErrorCode.REQUEST_TIMED_OUT)
        assert late.error_message == ErrorCode.REQUEST_TIMED_OUT.message
        assert refused == RESULTS[1]

    run(1, main)
