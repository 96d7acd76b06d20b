"""Whether the volumes of brokers have room for the new replicas of a plan.

A broker whose volume is full loses its log directory, with every replica in it. So plans of the
operator fill a volume only up to a share that leaves room for producers (Cruise
Control's DiskCapacityGoal is a hard goal with the same threshold of 80 %).
"""

from collections.abc import Mapping
from typing import Final

from ballast.brokersets.observation.observation import VolumeView
from ballast.brokersets.spec.spec import BrokerSetSpec
from ballast.model.quantity import format_bytes, parse_quantity

MAX_PERCENT: Final = 80
FULL_PERCENT: Final = 90
"""A broker whose volume is fuller gets no more replicas from a running plan."""
_NAMED: Final = 3


def capacities(spec: BrokerSetSpec, volumes: tuple[VolumeView, ...]) -> dict[int, int]:
    """Return the bytes of each broker's volume, if its claim is readable."""
    found = {}
    for volume in volumes:
        try:
            found[spec.broker_id(volume.ordinal)] = parse_quantity(volume.requested)
        except ValueError:
            continue
    return found


def full_brokers(held: Mapping[int, int], capacity: Mapping[int, int]) -> frozenset[int]:
    """Return the brokers whose logs take more than `FULL_PERCENT` of their volumes."""
    return frozenset(
        broker
        for broker, size in held.items()
        if broker in capacity and size * 100 > capacity[broker] * FULL_PERCENT
    )


def room_problem(
    held: Mapping[int, int], coming: Mapping[int, int], capacity: Mapping[int, int]
) -> str:
    """Return a text that names the brokers that would be too full, or an empty one.

    ``held`` are the bytes of all logs of each broker, ``coming`` those of its new replicas. Brokers
    for which either is unknown are left out.
    """
    crowded = [
        f"broker {broker} would hold {format_bytes(held[broker] + coming[broker])} of "
        f"{format_bytes(capacity[broker])}"
        for broker in sorted(coming)
        if broker in held
        and broker in capacity
        and coming[broker] > 0
        and (held[broker] + coming[broker]) * 100 > capacity[broker] * MAX_PERCENT
    ]
    if not crowded:
        return ""
    more = f" and {len(crowded) - _NAMED} more" if len(crowded) > _NAMED else ""
    named = ", ".join(crowded[:_NAMED])
    return f"NotEnoughDisk: {named}{more}: more than {MAX_PERCENT} % of its volume"
