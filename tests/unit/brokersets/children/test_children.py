from typing import Any

from ballast.brokersets.children.children import reassignment_document
from ballast.brokersets.children.resources import owner_reference
from ballast.brokersets.observation.observation import Purpose
from ballast.brokersets.steps.steps import CreateReassignment
from tests.unit.brokersets.builders import broker_set

PLAN = {"assignments": [{"topic": "t", "partition": 0, "replicas": [0, 1]}]}


def made(purpose: Purpose, **fields: Any) -> dict[str, Any]:
    step = CreateReassignment(
        name="prod-drain-3-4", purpose=purpose, broker_ids=(3, 4), excluded=frozenset()
    )
    return reassignment_document(broker_set(**fields), step, PLAN)


def test_a_drain_runs_by_itself() -> None:
    execution = {"throttle": {"rate": "10Mi"}}
    document = made(Purpose.DRAIN, scaleDown={"reassignment": {"execution": execution}})
    assert document["spec"] == {
        "brokerSetRef": {"name": "prod"},
        "plan": PLAN,
        "approval": {"policy": "Automatic"},
        "deletionPolicy": "Cancel",
        "execution": execution,
        "ttlSecondsAfterFinished": 3600,
    }


def test_its_own_moves_are_throttled_where_the_set_names_no_limit() -> None:
    for purpose in Purpose:
        assert made(purpose)["spec"]["execution"] == {"throttle": {"rate": "50Mi"}}
    batches = {"batchSize": 7}
    some = made(Purpose.DRAIN, scaleDown={"reassignment": {"execution": batches}})["spec"]
    assert some["execution"] == {"batchSize": 7, "throttle": {"rate": "50Mi"}}


def test_a_rebalance_waits_for_approval() -> None:
    spec = made(Purpose.REBALANCE)["spec"]
    assert spec["approval"] == {"policy": "Manual"}
    assert "ttlSecondsAfterFinished" not in spec


def test_it_says_whose_it_is_and_what_for() -> None:
    metadata = made(Purpose.DRAIN)["metadata"]
    assert metadata["namespace"] == "kafka"
    assert metadata["ownerReferences"] == [owner_reference(broker_set())]
    assert metadata["labels"]["ballast.dev/purpose"] == "drain"
    assert metadata["labels"]["ballast.dev/broker-set"] == "prod"
    assert metadata["annotations"] == {"ballast.dev/broker-ids": "3,4"}
