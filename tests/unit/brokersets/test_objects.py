from dataclasses import replace
from typing import Any

import pytest

from ballast.brokersets.children.resources import ResourceInputs, desired, digest_of
from ballast.brokersets.objects import object_steps, volume_steps
from ballast.brokersets.observation.observation import VolumeView
from ballast.brokersets.steps.decision_input import DecisionInput, TransientState
from ballast.brokersets.steps.steps import Apply, Delete, ResizeVolume
from tests.unit.brokersets.builders import broker_set, decision_input, observation, stateful_set

INPUTS = ResourceInputs(image="ballast:1", replicas=3, storage_size="10Gi")


def applied(**fields: Any) -> dict[tuple[str, str], str]:
    return {
        (d["kind"], d["metadata"]["name"]): digest_of(d)
        for d in desired(broker_set(**fields), INPUTS)
    }


def applied_kinds(seen: DecisionInput, inputs: ResourceInputs = INPUTS) -> list[str]:
    return [step.kind for step in object_steps(seen, inputs) if isinstance(step, Apply)]


def test_everything_is_made_at_first_the_stateful_set_last() -> None:
    kinds = applied_kinds(decision_input(seen=observation(stateful_set=None)))
    assert len(kinds) == 7
    assert kinds[-1] == "StatefulSet"


def test_what_is_as_it_should_be_is_left_alone() -> None:
    assert object_steps(decision_input(seen=observation(applied=applied())), INPUTS) == ()


@pytest.mark.parametrize(
    ("seen", "inputs"),
    [
        pytest.param(stateful_set(replicas=4), INPUTS, id="scaled by others"),
        pytest.param(stateful_set(partition=3), INPUTS, id="partition raised by others"),
        pytest.param(stateful_set(partition=None), INPUTS, id="strategy changed by others"),
        pytest.param(None, INPUTS, id="deleted by others"),
        pytest.param(stateful_set(), replace(INPUTS, partition=3), id="it is to be held"),
    ],
)
def test_the_stateful_sets_size_and_strategy_are_looked_at(
    seen: Any, inputs: ResourceInputs
) -> None:
    given = decision_input(seen=observation(applied=applied(), stateful_set=seen))
    assert applied_kinds(given, inputs) == ["StatefulSet"]


def test_only_what_changed_is_applied() -> None:
    spec = broker_set(config={"num.partitions": "9"})
    assert applied_kinds(decision_input(spec, observation(applied=applied()))) == [
        "ConfigMap",
        "StatefulSet",
    ]


def test_everything_is_applied_again_now_and_then() -> None:
    given = decision_input(
        seen=observation(applied=applied()), transient=TransientState(reapply=True)
    )
    assert len(applied_kinds(given)) == 7


def test_what_is_not_asked_for_any_more_is_deleted_if_it_is_there() -> None:
    spec = broker_set(disruption={"policy": "None"})
    there = applied()
    budget = Delete(kind="PodDisruptionBudget", name="prod-broker")
    assert object_steps(decision_input(spec, observation(applied=there)), INPUTS) == (budget,)
    del there["PodDisruptionBudget", "prod-broker"]
    assert object_steps(decision_input(spec, observation(applied=there)), INPUTS) == ()


@pytest.mark.parametrize(
    ("requested", "ordinal", "grows"),
    [
        ("10Gi", 0, True),
        ("20Gi", 0, False),
        ("20480Mi", 0, False),
        ("30Gi", 0, False),
        ("rubbish", 0, False),
        ("10Gi", 3, False),
    ],
)
def test_volumes_grow_with_the_spec(requested: str, ordinal: int, grows: bool) -> None:
    name = f"data-prod-broker-{ordinal}"
    volume = VolumeView(name=name, ordinal=ordinal, requested=requested)
    spec = broker_set(storage={"size": "20Gi"})
    steps = volume_steps(decision_input(spec, observation(volumes=(volume,))))
    assert steps == ((ResizeVolume(name=name, size="20Gi"),) if grows else ())


def test_an_existing_clusters_volumes_are_its_own() -> None:
    spec = broker_set(bootstrapServers="k:1", replicas=None, zookeeper=None, storage=None)
    assert volume_steps(decision_input(spec)) == ()
