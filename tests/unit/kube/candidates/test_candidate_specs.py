"""What a BrokerSet asks of its candidates."""

from typing import Any

import pytest

from ballast.kube.candidates.candidate_specs import (
    FIRST_CANDIDATE_ID,
    CandidateSpec,
    Cordons,
    candidate_id_of,
)
from ballast.model.settings.controller_config import ControllerConfig
from ballast.znodes.owner import Owner

MINIMAL = {"zookeeper": {"connect": "zk-0:2181,zk-1:2181"}}


def test_defaults() -> None:
    assert CandidateSpec.from_document({"spec": MINIMAL}) == CandidateSpec(
        zookeeper_connect="zk-0:2181,zk-1:2181",
        session_timeout_s=18.0,
        config=ControllerConfig(),
    )


def test_what_is_given() -> None:
    spec = {
        "zookeeper": {"connect": "zk:2181", "chroot": "/prod", "sessionTimeoutSeconds": 6},
        "config": {
            "num.partitions": "12",
            "default.replication.factor": "3",
            "delete.topic.enable": "False",
            "unclean.leader.election.enable": "true",
            "auto.leader.rebalance.enable": "false",
            "leader.imbalance.check.interval.seconds": "60",
            "leader.imbalance.per.broker.percentage": "0",
            "controller.socket.timeout.ms": "4000",
            "socket.connection.setup.timeout.ms": "5000",
            "socket.connection.setup.timeout.max.ms": "6000",
            "min.insync.replicas": "2",
        },
    }
    assert CandidateSpec.from_document({"spec": spec}) == CandidateSpec(
        zookeeper_connect="zk:2181/prod",
        session_timeout_s=6.0,
        config=ControllerConfig(
            num_partitions=12,
            default_replication_factor=3,
            delete_topic_enable=False,
            unclean_leader_election_enable=True,
            auto_leader_rebalance_enable=False,
            leader_imbalance_check_interval_seconds=60,
            leader_imbalance_per_broker_percentage=0,
            controller_socket_timeout_ms=4000,
            connection_setup_timeout_ms=5000,
            connection_setup_timeout_max_ms=6000,
        ),
    )


def test_a_cluster_that_runs_elsewhere_has_no_candidate() -> None:
    assert CandidateSpec.from_document({"spec": {"bootstrapServers": "kafka:9092"}}) is None


def test_the_ensemble_is_the_one_where_the_cluster_was_found() -> None:
    document = {
        "metadata": {"namespace": "a", "name": "one", "uid": "u-1"},
        "spec": {"zookeeper": {"connect": "nowhere:2181", "chroot": "/prod"}},
        "status": {"zooKeeper": {"connect": "zk:2181", "clusterId": "abc"}},
    }
    found = CandidateSpec.from_document(document)
    assert found is not None
    assert found.zookeeper_connect == "zk:2181/prod"
    assert found.owner == Owner(namespace="a", name="one", uid="u-1")


@pytest.mark.parametrize(
    ("change", "needs"),
    [
        ({"zookeeper": {"connect": "other:2181"}}, True),
        ({"zookeeper": {"connect": "zk-0:2181,zk-1:2181", "sessionTimeoutSeconds": 6}}, True),
        ({"config": {"unclean.leader.election.enable": "true"}}, True),
        ({"config": {"num.partitions": "6"}}, False),
        ({"config": {"default.replication.factor": "3"}}, False),
        ({"config": {"auto.leader.rebalance.enable": "false"}}, False),
    ],
)
def test_what_needs_another_candidate(change: dict[str, Any], needs: bool) -> None:
    before = CandidateSpec.from_document({"spec": MINIMAL})
    after = CandidateSpec.from_document({"spec": {**MINIMAL, **change}})
    assert before is not None
    assert after is not None
    assert before.needs_another(after) is needs


@pytest.mark.parametrize(
    "spec",
    [
        {"zookeeper": {}},
        {"zookeeper": {"connect": "zk"}},
        {**MINIMAL, "config": {"num.partitions": "0"}},
        {**MINIMAL, "config": {"default.replication.factor": "40000"}},
        {**MINIMAL, "config": {"delete.topic.enable": "yes"}},
        {**MINIMAL, "config": {"leader.imbalance.per.broker.percentage": "101"}},
        {**MINIMAL, "config": {"leader.imbalance.check.interval.seconds": "0"}},
    ],
)
def test_what_cannot_be(spec: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=r"."):
        CandidateSpec.from_document({"spec": spec})


@pytest.mark.parametrize(
    ("spec", "cordoned"),
    [
        ({"replicas": 3}, {3, 4}),
        ({"replicas": 3, "brokerIdOffset": 1}, {4}),
        ({"replicas": 5, "decommission": {"brokerIds": [1, 3]}}, {1, 3}),
        ({"bootstrapServers": "kafka:9092"}, set()),
    ],
)
def test_cordons(spec: dict[str, Any], cordoned: set[int]) -> None:
    cordons = Cordons.from_spec(spec)
    assert {broker_id for broker_id in range(5) if cordons.covers(broker_id)} == cordoned


@pytest.mark.parametrize(
    ("spec", "status", "start"),
    [
        ({"replicas": 3, "brokerIdOffset": 1}, {"replicas": 3}, 4),
        ({"replicas": 3, "brokerIdOffset": 1}, {"replicas": 4}, 5),
        ({"replicas": 5}, {"replicas": 4}, 5),
        ({"replicas": 3}, {}, None),
    ],
    ids=["scaled in", "its pod is there", "a pod is away", "not observed yet"],
)
def test_brokers_that_do_not_return(
    spec: dict[str, Any], status: dict[str, Any], start: int | None
) -> None:
    document = {"spec": {"zookeeper": {"connect": "zk:2181"}, **spec}, "status": status}
    found = CandidateSpec.from_document(document)
    assert found is not None
    assert found.controller_options(lambda _: False).removed_ids_start == start


def test_ids_are_stable_and_no_brokers() -> None:
    ids = [candidate_id_of(f"ballast-7c9d8-{number}") for number in range(1_000)]
    assert len(set(ids)) == len(ids)
    assert ids == [candidate_id_of(f"ballast-7c9d8-{number}") for number in range(1_000)]
    assert min(ids) >= FIRST_CANDIDATE_ID
    assert max(ids) < 2**31
