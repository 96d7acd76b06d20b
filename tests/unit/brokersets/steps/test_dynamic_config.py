import pytest

from ballast.brokersets.observation.observation import Cluster
from ballast.brokersets.steps.dynamic_config import due_changes, is_in_force
from tests.unit.brokersets.builders import broker_set, cluster

TWO = {"min.insync.replicas": "2"}


@pytest.mark.parametrize(
    ("config", "seen", "changes"),
    [
        pytest.param({}, cluster(), {}, id="nothing is asked for"),
        pytest.param(TWO, cluster(), TWO, id="to be set"),
        pytest.param(TWO, cluster(dynamic_defaults=TWO), {}, id="in force"),
        pytest.param(
            TWO, cluster(dynamic_defaults={"min.insync.replicas": "1"}), TWO, id="to be changed"
        ),
        pytest.param(
            {}, cluster(dynamic_defaults=TWO), {"min.insync.replicas": None}, id="to be taken back"
        ),
        pytest.param(
            {},
            cluster(dynamic_defaults={"leader.replication.throttled.rate": "5", "x": "y"}),
            {},
            id="what is others' is left alone",
        ),
        pytest.param({"num.partitions": "3"}, cluster(), {}, id="what needs a restart is not sent"),
        pytest.param(TWO, None, None, id="no broker answers"),
        pytest.param(TWO, cluster(dynamic_defaults=None), None, id="configs could not be read"),
    ],
)
def test_what_is_to_be_changed(
    config: dict[str, str], seen: Cluster | None, changes: dict[str, str | None] | None
) -> None:
    assert due_changes(broker_set(config=config), seen) == changes


def test_what_is_not_known_is_in_force_when_nothing_is_asked_for() -> None:
    assert is_in_force(broker_set(), None)
    assert not is_in_force(broker_set(config=TWO), None)
    assert is_in_force(broker_set(config=TWO), cluster(dynamic_defaults=TWO))
