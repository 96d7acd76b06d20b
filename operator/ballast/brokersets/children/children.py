"""The PartitionReassignments that a set creates for itself."""

from collections.abc import Mapping
from typing import Any, Final

from ballast.brokersets import names
from ballast.brokersets.children.resources import owner_reference
from ballast.brokersets.observation.observation import Purpose
from ballast.brokersets.spec.spec import BrokerSetSpec
from ballast.brokersets.steps.steps import CreateReassignment

DEFAULT_RATE: Final = "50Mi"
"""Default limit in bytes per second into and out of each broker: a scale-in by an autoscaler must
not use up the network and the disks of producers."""
_TIME_TO_LIVE_S: Final = 3600
"""How long a finished drain is kept."""


def reassignment_document(
    spec: BrokerSetSpec, step: CreateReassignment, plan: Mapping[str, Any]
) -> dict[str, Any]:
    """Return the object of a step; ``plan`` is its ``spec.plan``.

    A drain runs without an approval: the user has lowered ``replicas``. A rebalance needs one.
    """
    is_drain = step.purpose is Purpose.DRAIN
    fields: dict[str, Any] = {
        "brokerSetRef": {"name": spec.identity.name},
        "plan": dict(plan),
        "approval": {"policy": "Automatic" if is_drain else "Manual"},
        "deletionPolicy": "Cancel",
    }
    fields["execution"] = {"throttle": {"rate": DEFAULT_RATE}, **spec.scale_down.execution}
    if is_drain:
        fields["ttlSecondsAfterFinished"] = _TIME_TO_LIVE_S
    return {
        "apiVersion": "ballast.dev/v1alpha1",
        "kind": "PartitionReassignment",
        "metadata": {
            "name": step.name,
            "namespace": spec.identity.namespace,
            "labels": names.labels(spec.identity.name, {names.PURPOSE_LABEL: step.purpose.value}),
            "annotations": {names.BROKER_IDS_ANNOTATION: ",".join(str(i) for i in step.broker_ids)},
            "ownerReferences": [owner_reference(spec)],
        },
        "spec": fields,
    }
