import pytest
from hypothesis import given
from hypothesis import strategies as st

from ballast.brokersets.observation.availability import Availability, Obstacle
from ballast.brokersets.observation.observation import Cluster, PendingChange
from tests.unit.brokersets.builders import FULL, HEALTHY, Placement, cluster

EVERYONE = [0, 1, 2]


def refusals(seen: Cluster) -> dict[int, str]:
    availability = Availability(seen)
    found = {broker_id: availability.refusal(broker_id) for broker_id in EVERYONE}
    return {b: refusal.obstacle.value for b, refusal in found.items() if refusal is not None}


@pytest.mark.parametrize(
    ("seen", "kept"),
    [
        pytest.param(HEALTHY, {}, id="all in sync"),
        pytest.param(cluster(), {}, id="no partitions"),
        pytest.param(
            cluster(((0, 1, 2), (0, 1))), {0: "AtMinISR", 1: "AtMinISR"}, id="at the minimum"
        ),
        pytest.param(
            cluster(((0, 1, 2), (1,))),
            {0: "UnderMinISR", 1: "UnderMinISR", 2: "UnderMinISR"},
            id="under the minimum, all that hold it stay",
        ),
        pytest.param(cluster(((0,), (0,))), {}, id="a single replica can never be spared"),
        pytest.param(cluster(((0, 1), (0, 1))), {}, id="RF at the minimum"),
        pytest.param(
            cluster(((0, 1), (0,))),
            {0: "AtMinISR"},
            id="RF at the minimum, one is behind: the other stays",
        ),
        pytest.param(cluster(FULL, min_isr=3), {}, id="minimum of all replicas"),
        pytest.param(
            cluster(FULL, live=(0, 1)), {0: "BrokerDown", 1: "BrokerDown"}, id="another is down"
        ),
        pytest.param(
            cluster(((0, 1), (0, 1)), live=(0, 1)), {}, id="a broker without replicas is down"
        ),
        pytest.param(
            cluster(((0, 1), (0, 1)), ((2,), ()), live=(0, 1)),
            {},
            id="a broker is down that shares no partition",
        ),
        pytest.param(
            cluster(((0, 1), (0, 1)), ((1, 2), (1,)), min_isr=1, live=(0, 1)),
            {1: "BrokerDown"},
            id="only the broker that shares a partition with the dead one stays",
        ),
        pytest.param(
            cluster(
                ((0, 1), (0,)), min_isr=1, pending={0: PendingChange(adding=(1,), removing=(0,))}
            ),
            {0: "AtMinISR"},
            id="the only replica while another is on its way",
        ),
        pytest.param(
            cluster(
                ((2, 0, 1), (0, 1)),
                min_isr=2,
                pending={0: PendingChange(adding=(2,), removing=(0,))},
            ),
            {},
            id="RF at the minimum, and a move takes its time",
        ),
        pytest.param(
            cluster(
                ((2, 0, 1), (1,)), min_isr=2, pending={0: PendingChange(adding=(2,), removing=(0,))}
            ),
            {1: "AtMinISR"},
            id="RF at the minimum, one is behind while another is on its way",
        ),
        pytest.param(
            cluster(FULL, min_isr_by_topic={"t": 1}, min_isr=9), {}, id="the topic's own minimum"
        ),
    ],
)
def test_who_may_go(seen: Cluster, kept: dict[int, str]) -> None:
    assert refusals(seen) == kept


def test_nobody_goes_from_a_cluster_that_is_not_seen() -> None:
    availability = Availability(None)
    refusal = availability.refusal(0)
    assert refusal is not None
    assert refusal.obstacle is Obstacle.CLUSTER_UNKNOWN


def test_nobody_goes_while_nobody_is_controller() -> None:
    refusal = Availability(HEALTHY, has_controller=False).refusal(1)
    assert refusal is not None
    assert refusal.obstacle is Obstacle.NO_CONTROLLER


def test_of_a_hundred_brokers_a_dead_one_keeps_its_neighbours_only() -> None:
    everyone = range(100)
    placements = [tuple((first + i) % 100 for i in range(3)) for first in everyone]
    live = frozenset(everyone) - {50}
    seen = cluster(
        *((replicas, tuple(b for b in replicas if b in live)) for replicas in placements),
        live=live,
        min_isr=1,
    )
    availability = Availability(seen)
    kept = [b for b in sorted(live) if availability.refusal(b) is not None]
    assert kept == [48, 49, 51, 52]


@pytest.mark.parametrize(
    ("placement", "kept"),
    [
        pytest.param(((0, 1, 7), (0, 1)), {}, id="two are left of three, and may be one"),
        pytest.param(((0, 1, 2, 7), (0, 1)), {0: "AtMinISR", 1: "AtMinISR"}, id="2 is behind"),
        pytest.param(((0, 7), (0,)), {}, id="one is left of two"),
    ],
)
def test_replicas_of_brokers_that_were_taken_out_are_not_waited_for(
    placement: Placement, kept: dict[int, str]
) -> None:
    availability = Availability(cluster(placement), members=EVERYONE)
    found = {b: availability.refusal(b) for b in EVERYONE}
    assert {b: r.obstacle.value for b, r in found.items() if r is not None} == kept


def test_a_refusal_says_for_which_partition() -> None:
    seen = cluster(((0, 1, 2), (0, 1)))
    refusal = Availability(seen).refusal(1)
    assert refusal is not None
    assert refusal.message == "t-0 has 2 in-sync replicas and needs 2"


@st.composite
def clusters(draw: st.DrawFn) -> Cluster:
    brokers = list(range(5))
    placements: list[Placement] = []
    for _ in range(draw(st.integers(0, 4))):
        replicas = tuple(draw(st.permutations(brokers))[: draw(st.integers(1, 5))])
        isr = tuple(r for r in replicas if draw(st.booleans())) or replicas[:1]
        placements.append((replicas, isr))
    live = draw(st.sets(st.sampled_from(brokers), min_size=1))
    return cluster(*placements, live=live, min_isr=draw(st.integers(1, 4)))


@given(seen=clusters(), broker_id=st.integers(0, 4))
def test_no_partition_falls_under_its_minimum_because_a_broker_goes(
    seen: Cluster, broker_id: int
) -> None:
    if Availability(seen).refusal(broker_id) is not None:
        return
    for tp, partition in seen.partitions.items():
        left = set(partition.isr) - {broker_id}
        if len(partition.replicas) > seen.min_isr(tp.topic):
            assert broker_id not in partition.replicas or len(left) >= seen.min_isr(tp.topic)
        if len(partition.replicas) > 1 and broker_id in partition.isr:
            assert left & seen.live_brokers, "an in-sync replica is left to lead"


@given(seen=clusters())
def test_a_healthy_cluster_lets_each_broker_go(seen: Cluster) -> None:
    healed = cluster(
        *((p.replicas, p.replicas) for p in seen.partitions.values()),
        live=range(5),
        min_isr=seen.default_min_isr,
    )
    availability = Availability(healed)
    assert [availability.refusal(broker_id) for broker_id in range(5)] == [None] * 5
