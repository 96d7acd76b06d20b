import pytest

from ballast.brokersets.observation.observation import Cluster, GateView, PendingChange, PodView
from ballast.brokersets.observation.partition_counts import PartitionCounts, count_partitions
from ballast.brokersets.observation.readiness import decide_gate
from tests.unit.brokersets.builders import FULL, HEALTHY, cluster, opened, pod, starting

SHUT = GateView(is_true=False, reason="CatchingUp")
BEHIND = cluster(((0, 1, 2), (1, 2)))
NEW_PROCESS = pod(0, container_id="c0-again", gate=opened("c0"))


@pytest.mark.parametrize(
    ("view", "seen", "reason"),
    [
        pytest.param(starting(0), HEALTHY, "NotRegistered", id="the process is starting"),
        pytest.param(
            pod(0, gate=None), cluster(live=(1, 2)), "NotRegistered", id="not in the cluster"
        ),
        pytest.param(pod(0, gate=None), HEALTHY, "InSync", id="in sync for the first time"),
        pytest.param(pod(0, gate=None), cluster(), "InSync", id="it holds nothing"),
        pytest.param(pod(0, gate=SHUT), BEHIND, "CatchingUp", id="it is behind"),
        pytest.param(pod(0), BEHIND, "InSync", id="behind for a moment, once in sync"),
        pytest.param(NEW_PROCESS, BEHIND, "CatchingUp", id="a new process is behind"),
        pytest.param(NEW_PROCESS, HEALTHY, "InSync", id="a new process is in sync"),
        pytest.param(pod(0), cluster(live=(1, 2)), "NotRegistered", id="its session is lost"),
        pytest.param(
            pod(0, containers_ready=False), HEALTHY, "NotRegistered", id="the process is gone"
        ),
        pytest.param(pod(0, gate=None), None, "ClusterUnknown", id="nothing is known"),
        pytest.param(pod(0), None, "InSync", id="nothing is known, but once in sync"),
        pytest.param(
            pod(0, gate=None),
            cluster(((1, 2, 0), (1, 2)), pending={0: PendingChange(adding=(0,))}),
            "InSync",
            id="replicas on their way are not waited for",
        ),
        pytest.param(
            pod(0, gate=None),
            cluster(FULL, ((3, 0), (3,))),
            "InSync",
            id="partitions without a leader are not waited for",
        ),
    ],
)
def test_the_gate(view: PodView, seen: Cluster | None, reason: str) -> None:
    counts = PartitionCounts() if seen is None else count_partitions(seen)
    gate_decision = decide_gate(view, 0, seen, counts, is_configured=True, has_controller=True)
    assert (gate_decision.reason, gate_decision.is_true) == (reason, reason == "InSync")


def test_clients_see_no_broker_before_its_config_is_in_force() -> None:
    counts = count_partitions(HEALTHY)
    first = decide_gate(
        pod(0, gate=None), 0, HEALTHY, counts, is_configured=False, has_controller=True
    )
    later = decide_gate(pod(0), 0, HEALTHY, counts, is_configured=False, has_controller=True)
    assert (first.reason, first.is_true) == ("ConfigPending", False)
    assert later.is_true


def test_an_open_gate_names_the_process_that_it_was_opened_for() -> None:
    gate_decision = decide_gate(
        pod(0, gate=None),
        0,
        HEALTHY,
        count_partitions(HEALTHY),
        is_configured=True,
        has_controller=True,
    )
    assert gate_decision.message == opened("c0").message


def test_no_gate_opens_while_nobody_is_controller() -> None:
    """The ISR in Metadata is from before the broker was started."""
    counts = count_partitions(HEALTHY)
    gate_decisions = [
        decide_gate(view, 0, HEALTHY, counts, is_configured=True, has_controller=False)
        for view in (pod(0, gate=None), pod(0, gate=opened("before")), pod(0))
    ]
    assert [v.reason for v in gate_decisions] == ["NoController", "NoController", "InSync"]
