from typing import Any

import pytest

from ballast.kube.api.reassignment_object import ReassignmentObject, milliseconds
from ballast.model.conditions import ConditionStatus
from ballast.reassign.state.conditions import ConditionType, LifecycleState
from ballast.reassign.state.queueing import Purpose

SUCCEEDED = {
    "type": "Succeeded",
    "status": "True",
    "reason": "Completed",
    "message": "",
    "observedGeneration": 2,
    "lastTransitionTime": "2026-01-01T00:00:10Z",
}


def seen(status: Any = None, spec: Any = None, **more: Any) -> ReassignmentObject:
    metadata = {"name": "move", "namespace": "ns", "uid": "u", "generation": 2, **more}
    return ReassignmentObject(
        document={
            "apiVersion": "ballast.dev/v1alpha1",
            "kind": "PartitionReassignment",
            "metadata": {
                "name": "move",
                "namespace": "ns",
                "uid": "u",
                "generation": 2,
                **metadata,
            },
            "spec": spec if spec is not None else {"brokerSetRef": {"name": "prod"}},
            "status": status,
        }
    )


def in_state(state: str, **status: Any) -> ReassignmentObject:
    return seen({"conditions": [{**SUCCEEDED, "reason": state}], **status})


def test_what_names_it() -> None:
    found = seen()
    assert (found.namespace, found.name, found.uid, found.generation) == ("ns", "move", "u", 2)
    assert str(found.key) == "partitionreassignments/ns/move"
    assert found.broker_set == "prod"
    assert found.owner_reference()["uid"] == "u"
    assert found.manifest_document()["metadata"] == {"name": "move"}


@pytest.mark.parametrize(
    ("status", "is_settled"),
    [
        (None, False),
        ({"conditions": [SUCCEEDED]}, False),
        ({"conditions": [SUCCEEDED], "observedGeneration": 1}, False),
        ({"conditions": [SUCCEEDED], "observedGeneration": 2}, True),
        ({"conditions": [{**SUCCEEDED, "reason": "Executing"}], "observedGeneration": 2}, False),
    ],
)
def test_settled_is_ended_and_nothing_asked_since(status: Any, is_settled: bool) -> None:
    assert seen(status).is_settled is is_settled


@pytest.mark.parametrize(
    "status",
    [
        "text",
        {"conditions": "x"},
        {"conditions": [None, {}, {"type": "Succeeded"}, {**SUCCEEDED, "reason": "Nonsense"}]},
        {"controllerEpoch": "x", "queue": 5},
    ],
)
def test_a_status_that_others_have_spoilt_reads_as_none(status: Any) -> None:
    found = seen(status)
    assert found.state is None
    assert found.controller_epoch is None
    assert found.end_time_ms is None
    assert not found.has_claimed


def test_conditions_are_read() -> None:
    found = seen({"conditions": [SUCCEEDED]}).conditions
    assert found[ConditionType.SUCCEEDED].status is ConditionStatus.TRUE


def test_it_ended_when_it_says_or_when_its_condition_changed() -> None:
    at_ten = milliseconds("2026-01-01T00:00:10Z")
    assert seen({"conditions": [SUCCEEDED]}).end_time_ms == at_ten
    at_nine = {"conditions": [SUCCEEDED], "completionTime": "2026-01-01T00:00:09Z"}
    assert seen(at_nine).end_time_ms == milliseconds("2026-01-01T00:00:09Z")
    assert in_state("Executing").end_time_ms is None


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("1970-01-01T00:00:01Z", 1000),
        ("1970-01-01T00:00:01", 1000),
        ("1970-01-01T01:00:01+01:00", 1000),
        ("yesterday", None),
        (None, None),
        (5, None),
    ],
)
def test_times(text: object, found: int | None) -> None:
    assert milliseconds(text) == found


@pytest.mark.parametrize(
    ("found", "has_begun"),
    [
        (seen(), False),
        (in_state("Planning"), False),
        (in_state("Queued", queue={"position": 1}), False),
        (in_state("Queued", queue={"position": 0}), True),
        (in_state("Queued", queue={"position": 1}, startTime="x"), False),
        (in_state("Paused"), False),
        (in_state("Paused", startTime="2026-01-01T00:00:00Z"), True),
        (in_state("Executing", startTime="2026-01-01T00:00:00Z"), True),
    ],
)
def test_who_stands_in_the_way_of_others(found: ReassignmentObject, has_begun: bool) -> None:
    assert found.queue_entry().has_begun is has_begun


def test_its_place_in_the_queue_follows_from_labels_and_spec() -> None:
    entry = seen(
        spec={"desiredState": "Paused"},
        labels={"ballast.dev/purpose": "drain"},
        creationTimestamp="2026-01-01T00:00:00Z",
    ).queue_entry()
    assert entry.purpose is Purpose.DRAIN
    assert entry.is_paused
    assert entry.creation_time == "2026-01-01T00:00:00Z"
    assert entry.state is LifecycleState.PENDING


def test_finalizers_and_deletion() -> None:
    assert not seen().has_finalizer
    held = seen(finalizers=["ballast.dev/cleanup"], deletionTimestamp="1970-01-01T00:00:01Z")
    assert held.has_finalizer
    assert held.is_deleted
    assert held.deletion_time_ms == 1000
    assert seen().deletion_time_ms is None
