"""What is said of volumes on their way to the size that is asked for."""

import pytest

from ballast.brokersets.observation.observation import VolumeView
from ballast.brokersets.observation.volumes import finding, storage_status
from ballast.model.conditions import ConditionStatus
from tests.unit.brokersets.builders import broker_set

SPEC = broker_set(replicas=2, storage={"size": "20Gi"})


def volume(ordinal: int, capacity: str, *, requested: str = "20Gi", resize: str = "") -> VolumeView:
    return VolumeView(
        name=f"data-prod-broker-{ordinal}",
        ordinal=ordinal,
        requested=requested,
        capacity=capacity,
        resize_condition=resize,
        resize_message="no space" if resize else "",
    )


@pytest.mark.parametrize(
    ("volumes", "reason"),
    [
        ((), "AllOfSize"),
        ((volume(0, "20Gi"), volume(1, "")), "AllOfSize"),
        ((volume(0, "20Gi"), volume(2, "10Gi")), "AllOfSize"),
        ((volume(0, "10Gi"), volume(1, "20Gi")), "Resizing"),
        ((volume(0, "10Gi", requested="10Gi"),), "NotRequested"),
        ((volume(0, "10Gi", resize="FileSystemResizePending"),), "FileSystemResizePending"),
        ((volume(0, "10Gi"), volume(1, "10Gi", resize="NodeResizeError")), "ResizeFailed"),
    ],
)
def test_the_reason(volumes: tuple[VolumeView, ...], reason: str) -> None:
    found = finding(SPEC, volumes)
    assert found.reason == reason
    expected = ConditionStatus.TRUE if reason == "AllOfSize" else ConditionStatus.FALSE
    assert found.status is expected


def test_the_message_names_some_volumes_and_what_went_wrong() -> None:
    spec = broker_set(replicas=9, storage={"size": "20Gi"})
    volumes = tuple(volume(ordinal, "10Gi", resize="NodeResizeError") for ordinal in range(5))
    message = finding(spec, volumes).message
    assert "data-prod-broker-0 (10Gi)" in message
    assert "and 2 more" in message
    assert message.endswith("data-prod-broker-0: no space")


def test_the_status_has_the_least_capacity() -> None:
    assert storage_status(SPEC, (volume(0, "20Gi"), volume(1, "10Gi"))) == {
        "leastCapacity": "10Gi",
        "smallerThanAsked": 1,
    }
    assert storage_status(SPEC, (volume(0, ""),)) == {}
