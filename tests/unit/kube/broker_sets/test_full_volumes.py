"""A move waits while the volumes it would fill are nearly full, and goes on when there is room."""

from typing import Any

import pytest

from ballast.kube.api.resources import PERSISTENT_VOLUME_CLAIMS
from ballast.kube.broker_sets.full_volumes import REFRESH_S, FullVolumes
from ballast.reassign.state.conditions import LifecycleState
from tests.unit.kube.reassignment_cluster import NAMESPACE, Environment, has_ended
from tests.unit.reassign.scenario import T3, TARGETS

SPEC: dict[str, Any] = {
    "replicas": 4,
    "brokerIdOffset": 1,
    "zookeeper": {"connect": "zk:2181", "chroot": "/prod"},
    "storage": {"size": "1Gi"},
}


def env() -> Environment:
    made = Environment()
    made.put_broker_set(**SPEC)
    for ordinal in range(4):
        grow(made, ordinal, "100000")
    return made


def grow(made: Environment, ordinal: int, size: str) -> None:
    """Let a broker's volume have a size."""
    made.api.put(
        PERSISTENT_VOLUME_CLAIMS,
        {
            "metadata": {
                "name": f"data-prod-broker-{ordinal}",
                "namespace": NAMESPACE,
                "labels": {"ballast.dev/broker-set": "prod"},
            },
            "spec": {"resources": {"requests": {"storage": size}}},
        },
    )


async def test_no_more_replicas_go_to_a_full_volume_until_it_has_grown() -> None:
    made = env()
    grow(made, 3, "4400")
    made.put()
    loop = made.loop()
    await made.until(lambda h: "TargetVolumeFull" in h.reason("Progressing"), loop)
    assert made.state() is LifecycleState.EXECUTING
    assert "such as 4" in made.message("Progressing")
    await made.reconcile(loop, 20)
    gained = [tp for tp in TARGETS if 4 in made.cluster.replicas()[tp] and tp != T3]
    assert not gained, "broker 4 holds 4000 bytes of 4400, all of them of t-3"
    grow(made, 3, "100000")
    await made.until(has_ended, loop)
    assert made.state() is LifecycleState.COMPLETED
    assert all(made.cluster.replicas()[tp] == TARGETS[tp] for tp in TARGETS)


async def test_volumes_are_looked_at_now_and_then() -> None:
    made = env()
    volumes = FullVolumes(made.api, made.clock)
    assert await volumes.full_brokers(NAMESPACE, "prod", made.admin) == frozenset()
    grow(made, 0, "10")
    assert await volumes.full_brokers(NAMESPACE, "prod", made.admin) == frozenset()
    await made.clock.sleep(REFRESH_S)
    assert await volumes.full_brokers(NAMESPACE, "prod", made.admin) == {1}


@pytest.mark.parametrize(
    "spec", [{"bootstrapServers": "kafka:9092"}, {"replicas": -1}], ids=["external", "invalid"]
)
async def test_of_volumes_that_are_not_known_none_is_full(spec: dict[str, Any]) -> None:
    made = env()
    grow(made, 0, "10")
    made.put_broker_set(**spec)
    volumes = FullVolumes(made.api, made.clock)
    assert await volumes.full_brokers(NAMESPACE, "prod", made.admin) == frozenset()
