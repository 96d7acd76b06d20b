"""Which objects of a set differ from their desired state."""

from ballast.brokersets import names
from ballast.brokersets.children.resources import ResourceInputs, desired, digest_of, obsolete
from ballast.brokersets.steps.decision_input import DecisionInput
from ballast.brokersets.steps.steps import Apply, Delete, ResizeVolume, Step
from ballast.model.quantity import parse_quantity


def object_steps(inputs: DecisionInput, resource_inputs: ResourceInputs) -> tuple[Step, ...]:
    """Return the objects to apply and to delete.

    An object is applied if its digest annotation differs. The size and the update strategy of the
    StatefulSet are compared themselves: others may have changed them, and much depends on them.
    """
    applied = inputs.observation.applied
    steps: list[Step] = []
    for document in desired(inputs.spec, resource_inputs):
        step = Apply(document=document)
        same = applied.get((step.kind, step.name)) == digest_of(document)
        is_tampered = step.kind == "StatefulSet" and _is_tampered(inputs, resource_inputs)
        is_unread = step.kind in inputs.observation.unread
        if inputs.transient.reapply or is_tampered or (not same and not is_unread):
            steps.append(step)
    steps += [
        Delete(kind=kind, name=name)
        for kind, name in obsolete(inputs.spec, resource_inputs)
        if (kind, name) in applied
    ]
    return tuple(steps)


def _is_tampered(inputs: DecisionInput, resource_inputs: ResourceInputs) -> bool:
    stateful_set = inputs.observation.stateful_set
    if stateful_set is None:
        return True
    is_as_wanted = (stateful_set.replicas, stateful_set.partition) == (
        resource_inputs.replicas,
        resource_inputs.partition,
    )
    return not is_as_wanted


def volume_steps(inputs: DecisionInput) -> tuple[ResizeVolume, ...]:
    """Return the volumes that request less than the spec.

    A StatefulSet's claim template cannot be changed, so each claim is resized by itself, also those
    of new brokers. A size that cannot be read is not changed, and none is ever reduced.
    """
    storage = inputs.spec.storage
    if storage is None:
        return ()
    return tuple(
        ResizeVolume(
            name=names.volume_claim(inputs.spec.identity.name, volume.ordinal), size=storage.size
        )
        for volume in inputs.observation.volumes
        if volume.ordinal < inputs.spec.replicas
        and (_bytes(volume.requested) or storage.size_bytes) < storage.size_bytes
    )


def _bytes(quantity: str) -> int | None:
    try:
        return parse_quantity(quantity)
    except ValueError:
        return None
