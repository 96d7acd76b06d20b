from ballast.brokersets.steps.steps import Apply, DeletePod, ResizeVolume
from ballast.kube.broker_sets.step_delays import FIRST_S, MAX_DELAYS, MAX_S, StepDelays

GROW = ResizeVolume(name="data-prod-broker-0", size="2Gi")


def applied(digest: str) -> Apply:
    metadata = {"name": "prod-broker", "annotations": {"ballast.dev/applied-digest": digest}}
    return Apply(document={"kind": "StatefulSet", "metadata": metadata})


def test_a_step_that_is_refused_waits_longer_each_time() -> None:
    delays, now, waited = StepDelays(), 0.0, []
    for _ in range(6):
        delays.refused(GROW, "no", now)
        delay = delays.delay_of(GROW, now)
        assert delay is not None
        assert delay.why == "no"
        waited.append(delay.seconds)
        assert delays.next_in_s(now) == delay.seconds
        now += delay.seconds
        assert delays.delay_of(GROW, now) is None
    assert waited == [FIRST_S, 10.0, 20.0, 40.0, MAX_S, MAX_S]


def test_a_step_that_was_taken_waits_no_more() -> None:
    delays = StepDelays()
    delays.refused(GROW, "no", 0.0)
    delays.done(GROW)
    assert delays.delay_of(GROW, 0.0) is None
    assert delays.next_in_s(0.0) is None


def test_only_that_very_step_waits() -> None:
    delays = StepDelays()
    delays.refused(applied("a"), "no", 0.0)
    assert delays.delay_of(applied("a"), 0.0) is not None
    assert delays.delay_of(applied("b"), 0.0) is None, "the document is another one"
    assert delays.delay_of(DeletePod(name="p", uid="u", reason="r"), 0.0) is None


def test_what_is_not_wanted_any_more_is_forgotten() -> None:
    delays = StepDelays()
    delays.refused(GROW, "no", 0.0)
    delays.keep_only((applied("a"),))
    assert delays.next_in_s(0.0) is None


def test_the_memory_is_bounded() -> None:
    delays = StepDelays()
    for number in range(MAX_DELAYS + 5):
        delays.refused(ResizeVolume(name=f"v{number}", size="1"), "no", 0.0)
    assert delays.delay_of(ResizeVolume(name="v0", size="1"), 0.0) is None
    assert delays.delay_of(ResizeVolume(name=f"v{MAX_DELAYS}", size="1"), 0.0) is not None
