"""Events: few, counted, never an error."""

from typing import Any

from ballast.kube.api.errors import Forbidden
from ballast.kube.api.events import BURST, INTERVAL_S, MAX_NOTE, EventRecorder
from ballast.kube.api.resources import EVENTS
from tests.fakes.clocks import YieldingClock
from tests.fakes.kubernetes import FakeKubernetes

MOVE = {
    "apiVersion": "ballast.dev/v1alpha1",
    "kind": "PartitionReassignment",
    "metadata": {"namespace": "a", "name": "move", "uid": "u1"},
}


class Environment:
    def __init__(self) -> None:
        self.api = FakeKubernetes()
        self.clock = YieldingClock()
        self.recorder = EventRecorder(self.api, "pod-1", self.clock)

    @property
    def events(self) -> list[tuple[str, str, int]]:
        return [
            (event["reason"], event["note"], event.get("series", {}).get("count", 1))
            for event in self.api.all(EVENTS)
        ]


async def test_an_event_says_what_and_about_what() -> None:
    env = Environment()
    await env.recorder.note(MOVE, "Stalled", "x" * 2_000, warning=True)
    (event,) = env.api.all(EVENTS)
    assert event["regarding"] == {
        "apiVersion": "ballast.dev/v1alpha1",
        "kind": "PartitionReassignment",
        "namespace": "a",
        "name": "move",
        "uid": "u1",
    }
    assert (event["type"], event["reason"], len(event["note"])) == ("Warning", "Stalled", MAX_NOTE)
    assert event["reportingInstance"] == "pod-1"
    assert event["metadata"]["name"].startswith("move.")
    assert event["eventTime"] == "2023-11-14T22:15:00.000000Z"


async def test_repeats_are_counted() -> None:
    env = Environment()
    for _ in range(5):
        await env.recorder.note(MOVE, "Queued", "behind another")
    assert env.events == [("Queued", "behind another", 1)]
    env.clock.seconds += INTERVAL_S
    await env.recorder.note(MOVE, "Queued", "behind another")
    assert env.events == [("Queued", "behind another", 6)]


async def test_other_words_make_another_event() -> None:
    env = Environment()
    await env.recorder.note(MOVE, "Queued", "behind one")
    await env.recorder.note(MOVE, "Started", "now")
    env.clock.seconds += INTERVAL_S
    await env.recorder.note(MOVE, "Queued", "behind two")
    assert env.events == [("Queued", "behind one", 1), ("Started", "now", 1),
                            ("Queued", "behind two", 1)]  # fmt: skip


async def test_other_words_are_not_lost_in_those_before() -> None:
    env = Environment()
    await env.recorder.note(MOVE, "ConfigChanged", "min.insync.replicas")
    await env.recorder.note(MOVE, "ConfigChanged", "message.max.bytes")
    assert [note for _, note, _ in env.events] == ["min.insync.replicas", "message.max.bytes"]


async def test_words_that_change_all_the_time_are_few() -> None:
    env = Environment()
    for number in range(100):
        await env.recorder.note(MOVE, "Queued", f"behind {number}")
    assert len(env.events) == BURST
    env.clock.seconds += INTERVAL_S
    for number in range(100):
        await env.recorder.note(MOVE, "Queued", f"before {number}")
    assert len(env.events) == 2 * BURST


async def test_an_event_that_has_ended_is_made_anew() -> None:
    env = Environment()
    await env.recorder.note(MOVE, "Queued", "x")
    await env.api.delete(EVENTS, "a", env.api.all(EVENTS)[0]["metadata"]["name"])
    env.clock.seconds += INTERVAL_S
    await env.recorder.note(MOVE, "Queued", "x")
    assert env.events == [("Queued", "x", 1)]


async def test_an_event_that_cannot_be_written_is_lost() -> None:
    env = Environment()
    env.api.fail_next("create", Forbidden("namespace is terminating", status=403))
    await env.recorder.note(MOVE, "Queued", "x")
    assert env.events == []


async def test_objects_without_a_namespace() -> None:
    env = Environment()
    node: dict[str, Any] = {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": "n", "uid": "u"},
    }
    await env.recorder.note(node, "Seen", "x")
    assert env.api.all(EVENTS)[0]["metadata"]["namespace"] == "default"
