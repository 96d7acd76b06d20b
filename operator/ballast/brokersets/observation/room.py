"""Whether brokers have room on their volumes for what a plan brings them.

A broker whose volume is full loses its log directory, with every replica in it. So no plan of the
operator's own fills one beyond a share that leaves room for what producers write meanwhile (Cruise
Control's DiskCapacityGoal is a hard goal with the same threshold of 80 %).
"""

from collections.abc import Mapping
from typing import Final

from ballast.brokersets.observation.observation import VolumeView
from ballast.brokersets.spec.spec import BrokerSetSpec
from ballast.model.quantity import format_bytes, parse_quantity

MAX_PERCENT: Final = 80
FULL_PERCENT: Final = 90
"""A broker whose volume is fuller gets no more replicas while a plan runs."""
_NAMED: Final = 3


def capacities(spec: BrokerSetSpec, volumes: tuple[VolumeView, ...]) -> dict[int, int]:
    """Return the bytes of each broker's volume, as far as its claim can be read."""
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
    """Return in words which brokers would be too full, nothing when none is.

    ``held`` are the bytes of the logs of each broker that told them, ``coming`` those of the
    replicas that it gets. A broker of which either is not known is not judged.
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
