import pytest

from ballast.brokersets.observation.observed import Cluster, GateView, Pending, PodView
from ballast.brokersets.observation.partition_counts import Census, take_census
from ballast.brokersets.observation.readiness import judge
from tests.unit.brokersets.worlds import FULL, HEALTHY, cluster, opened, pod, starting

SHUT = GateView(is_true=False, reason="CatchingUp")
BEHIND = cluster(((0, 1, 2), (1, 2)))
NEW_PROCESS = pod(0, container_id="c0-again", gate=opened("c0"))


@pytest.mark.parametrize(
    ("view", "seen", "reason"),
    [
        pytest.param(starting(0), HEALTHY, "NotRegistered", id="the process is starting"),
        pytest.param(
            pod(0, gate=None), cluster(live=(1, 2)), "NotRegistered", id="the cluster lacks it"
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
            cluster(((1, 2, 0), (1, 2)), pending={0: Pending(adding=(0,))}),
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
    census = Census() if seen is None else take_census(seen)
    verdict = judge(view, 0, seen, census, is_configured=True, has_controller=True)
    assert (verdict.reason, verdict.is_true) == (reason, reason == "InSync")


def test_clients_see_no_broker_before_its_config_is_in_force() -> None:
    census = take_census(HEALTHY)
    first = judge(pod(0, gate=None), 0, HEALTHY, census, is_configured=False, has_controller=True)
    later = judge(pod(0), 0, HEALTHY, census, is_configured=False, has_controller=True)
    assert (first.reason, first.is_true) == ("ConfigPending", False)
    assert later.is_true


def test_an_open_gate_names_the_process_that_it_was_opened_for() -> None:
    verdict = judge(
        pod(0, gate=None), 0, HEALTHY, take_census(HEALTHY), is_configured=True, has_controller=True
    )
    assert verdict.message == opened("c0").message


def test_no_gate_opens_while_nobody_is_controller() -> None:
    """The ISR that brokers tell of is from before the broker was started."""
    census = take_census(HEALTHY)
    verdicts = [
        judge(view, 0, HEALTHY, census, is_configured=True, has_controller=False)
        for view in (pod(0, gate=None), pod(0, gate=opened("before")), pod(0))
    ]
    assert [v.reason for v in verdicts] == ["NoController", "NoController", "InSync"]
