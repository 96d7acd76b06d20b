"""Whether the brokers' volumes have grown to the size in the spec."""

from typing import Any

from ballast.brokersets.observation.observation import VolumeView
from ballast.brokersets.spec.spec import BrokerSetSpec
from ballast.model.conditions import ConditionStatus, Finding
from ballast.model.quantity import parse_quantity

FAILED = ("ControllerResizeError", "NodeResizeError")
"""Conditions of a claim whose expansion has failed; Kubernetes keeps trying."""
PENDING = "FileSystemResizePending"
"""Condition of a claim whose volume has grown, but not its file system yet."""


def finding(spec: BrokerSetSpec, volumes: tuple[VolumeView, ...]) -> Finding:
    """Return the finding of the condition VolumesResized."""
    if spec.storage is None:
        return Finding(
            status=ConditionStatus.UNKNOWN,
            reason="NotManaged",
            message="the volumes of an existing cluster are not observed",
        )
    small = _small(spec, volumes)
    if not small:
        return Finding(status=ConditionStatus.TRUE, reason="AllOfSize")
    examples = ", ".join(f"{volume.name} ({volume.capacity})" for volume in small[:3])
    more = f" and {len(small) - 3} more" if len(small) > 3 else ""
    reason, why = _reason(spec, small)
    message = f"smaller than {spec.storage.size}: {examples}{more}{why}"
    return Finding(status=ConditionStatus.FALSE, reason=reason, message=message)


def storage_status(spec: BrokerSetSpec, volumes: tuple[VolumeView, ...]) -> dict[str, Any]:
    """Return ``status.storage``: the smallest capacity, and the number of small volumes."""
    capacities = [volume.capacity for volume in volumes if _bytes(volume.capacity) is not None]
    if not capacities:
        return {}
    least = min(capacities, key=lambda capacity: _bytes(capacity) or 0)
    return {"leastCapacity": least, "smallerThanAsked": len(_small(spec, volumes))}


def _small(spec: BrokerSetSpec, volumes: tuple[VolumeView, ...]) -> list[VolumeView]:
    """Return the volumes, of brokers that are not decommissioning, known to be too small."""
    assert spec.storage is not None, "only a managed set has volumes"
    target_bytes = spec.storage.size_bytes
    staying = (volume for volume in volumes if volume.ordinal < spec.replicas)
    return [
        volume for volume in staying if (_bytes(volume.capacity) or target_bytes) < target_bytes
    ]


def _reason(spec: BrokerSetSpec, small: list[VolumeView]) -> tuple[str, str]:
    assert spec.storage is not None
    for volume in small:
        if volume.resize_condition in FAILED:
            return "ResizeFailed", f"; {volume.name}: {volume.resize_message}"
    target_bytes = spec.storage.size_bytes
    if any((_bytes(volume.requested) or target_bytes) < target_bytes for volume in small):
        return "NotRequested", "; the condition Progressing says whether the request is refused"
    if any(volume.resize_condition == PENDING for volume in small):
        return "FileSystemResizePending", "; a file system grows when its pod mounts it"
    return "Resizing", ""


def _bytes(quantity: str) -> int | None:
    try:
        return parse_quantity(quantity)
    except ValueError:
        return None
