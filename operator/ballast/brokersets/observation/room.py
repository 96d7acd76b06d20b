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
    bytes_by_broker = {}
    for volume in volumes:
        try:
            bytes_by_broker[spec.broker_id(volume.ordinal)] = parse_quantity(volume.requested)
        except ValueError:
            continue
    return bytes_by_broker


def full_brokers(used_bytes: Mapping[int, int], capacity: Mapping[int, int]) -> frozenset[int]:
    """Return the brokers whose logs take more than `FULL_PERCENT` of their volumes."""
    return frozenset(
        broker
        for broker, size in used_bytes.items()
        if broker in capacity and size * 100 > capacity[broker] * FULL_PERCENT
    )


def room_problem(
    used_bytes: Mapping[int, int], incoming_bytes: Mapping[int, int], capacity: Mapping[int, int]
) -> str:
    """Return a text that names the brokers that would be too full, or an empty one.

    ``used_bytes`` are those of all logs of each broker, ``incoming_bytes`` those of its new
    replicas. Brokers for which either is unknown are left out.
    """
    overfull = [
        f"broker {broker} would hold "
        f"{format_bytes(used_bytes[broker] + incoming_bytes[broker])} of "
        f"{format_bytes(capacity[broker])}"
        for broker in sorted(incoming_bytes)
        if broker in used_bytes
        and broker in capacity
        and incoming_bytes[broker] > 0
        and (used_bytes[broker] + incoming_bytes[broker]) * 100 > capacity[broker] * MAX_PERCENT
    ]
    if not overfull:
        return ""
    more = f" and {len(overfull) - _NAMED} more" if len(overfull) > _NAMED else ""
    first_brokers = ", ".join(overfull[:_NAMED])
    return f"NotEnoughDisk: {first_brokers}{more}: more than {MAX_PERCENT} % of its volume"
