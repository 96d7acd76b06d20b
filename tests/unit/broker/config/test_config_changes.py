import pytest

from ballast.broker.config.config_changes import Change, Operation, apply_to_broker, apply_to_topic
from ballast.broker.errors import PartitionError
from ballast.protocol.error_codes import ErrorCode

THROTTLED = "leader.replication.throttled.replicas"
RATE = "leader.replication.throttled.rate"


def change(name: str, operation: int, value: str | None = None) -> Change:
    return Change(name=name, operation=operation, value=value)


def test_set_and_delete() -> None:
    values = apply_to_topic(
        {"retention.ms": "1", "foreign": "kept"},
        [
            change("retention.ms", Operation.DELETE),
            change("min.insync.replicas", Operation.SET, "2"),
            change("never.was", Operation.DELETE),
        ],
    )
    assert values == {"foreign": "kept", "min.insync.replicas": "2"}


def test_append_and_subtract_work_on_lists() -> None:
    values = apply_to_topic({THROTTLED: "0:1"}, [change(THROTTLED, Operation.APPEND, "1:2,0:1")])
    assert values == {THROTTLED: "0:1,1:2"}
    values = apply_to_topic(values, [change(THROTTLED, Operation.SUBTRACT, "0:1")])
    assert values == {THROTTLED: "1:2"}


def test_append_begins_with_the_default() -> None:
    values = apply_to_topic({}, [change("cleanup.policy", Operation.APPEND, "compact")])
    assert values == {"cleanup.policy": "delete,compact"}


@pytest.mark.parametrize(
    ("bad", "code"),
    [
        (change("nonsense", Operation.SET, "1"), ErrorCode.INVALID_CONFIG),
        (change("min.insync.replicas", Operation.SET, "0"), ErrorCode.INVALID_CONFIG),
        (change("min.insync.replicas", Operation.SET), ErrorCode.INVALID_REQUEST),
        (change("min.insync.replicas", Operation.APPEND, "1"), ErrorCode.INVALID_REQUEST),
        (change(THROTTLED, Operation.SET, "0:1,x"), ErrorCode.INVALID_CONFIG),
        (change(THROTTLED, 7, "0:1"), ErrorCode.INVALID_REQUEST),
        (
            change("message.format.version", Operation.SET, "0.10.2"),
            ErrorCode.INVALID_CONFIG,
        ),
    ],
)
def test_what_is_refused_for_topics(bad: Change, code: ErrorCode) -> None:
    with pytest.raises(PartitionError) as caught:
        apply_to_topic({}, [bad])
    assert caught.value.code == code


def test_a_name_may_be_changed_once() -> None:
    twice = [change("retention.ms", Operation.SET, "1"), change("retention.ms", Operation.DELETE)]
    with pytest.raises(PartitionError, match="duplicate"):
        apply_to_topic({}, twice)


def test_broker_rates() -> None:
    assert apply_to_broker({}, [change(RATE, Operation.SET, "1000")]) == {RATE: "1000"}
    assert apply_to_broker({RATE: "1000"}, [change(RATE, Operation.DELETE)]) == {}


@pytest.mark.parametrize("name", ["broker.id", "log.dirs", "nonsense"])
def test_brokers_take_dynamic_names_only(name: str) -> None:
    with pytest.raises(PartitionError, match="dynamically") as caught:
        apply_to_broker({}, [change(name, Operation.SET, "1")])
    assert caught.value.code == ErrorCode.INVALID_REQUEST


def test_a_bad_rate_is_refused() -> None:
    with pytest.raises(PartitionError, match="throttled"):
        apply_to_broker({}, [change(RATE, Operation.SET, "-1")])


def test_what_controllers_go_by_is_set_for_all_brokers_only() -> None:
    name = "unclean.leader.election.enable"
    changes = [change(name, Operation.SET, "true")]
    assert apply_to_broker({}, changes, all_brokers=True) == {name: "true"}
    with pytest.raises(PartitionError, match="all brokers only"):
        apply_to_broker({}, changes)
