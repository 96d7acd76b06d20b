"""The error tree: one root, and Kafka's name on what clients see."""

from ballast.controller.errors import (
    ControllerError,
    ControllerMoved,
    IllegalTransition,
    RequestRefused,
    StateChangeFailed,
    StoreUnavailable,
)


def test_one_root() -> None:
    kinds = (
        ControllerMoved,
        IllegalTransition,
        RequestRefused,
        StateChangeFailed,
        StoreUnavailable,
    )
    assert all(issubclass(kind, ControllerError) for kind in kinds)


def test_refusal_names_kafkas_error() -> None:
    refusal = RequestRefused("INVALID_PARTITIONS", "Number of partitions must be larger than 0.")
    assert (refusal.error, str(refusal)) == (
        "INVALID_PARTITIONS",
        "Number of partitions must be larger than 0.",
    )
