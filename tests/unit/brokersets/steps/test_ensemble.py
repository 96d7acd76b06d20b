from typing import Any

import pytest

from ballast.brokersets.steps.ensemble import (
    Accepted,
    EnsembleAnswer,
    EnsembleState,
    accepted_of,
    effective_spec,
    must_ask,
    resolve_ensemble,
)
from tests.unit.brokersets.builders import broker_set

SPEC = broker_set()
HERE = Accepted(connect="zk:2181", cluster_id="abc")
ELSEWHERE = Accepted(connect="old:2181", cluster_id="abc")


def settled(answer: EnsembleAnswer | None, **fields: Any) -> EnsembleState:
    values: dict[str, Any] = {"accepted": None, "is_new": False, "brokers_cluster_id": "abc"}
    values |= fields
    accepted = values.pop("accepted")
    return resolve_ensemble(SPEC, accepted, answer, **values)


def reason(state: EnsembleState) -> str | None:
    return None if state.block is None else state.block.reason


@pytest.mark.parametrize(
    ("status", "accepted"),
    [
        ({}, None),
        ({"zooKeeper": {}}, None),
        ({"zooKeeper": {"connect": "zk:2181", "clusterId": ""}}, None),
        ({"zooKeeper": "zk"}, None),
        ({"zooKeeper": HERE.to_document()}, HERE),
    ],
)
def test_what_the_status_remembers(status: dict[str, Any], accepted: Accepted | None) -> None:
    assert accepted_of(status) == accepted


def test_whom_to_ask() -> None:
    assert must_ask(SPEC, None)
    assert not must_ask(SPEC, HERE)
    assert must_ask(SPEC, ELSEWHERE)
    external = broker_set(bootstrapServers="k:1", replicas=None, zookeeper=None, storage=None)
    assert not must_ask(external, None)


@pytest.mark.parametrize(
    ("answer", "accepted"),
    [
        pytest.param(EnsembleAnswer(cluster_id="abc"), HERE, id="the brokers' own"),
        pytest.param(EnsembleAnswer(cluster_id="xyz"), None, id="not where the brokers are"),
        pytest.param(EnsembleAnswer(), None, id="no broker was ever there"),
        pytest.param(EnsembleAnswer(error="silence"), None, id="silence"),
    ],
)
def test_where_a_cluster_is_found_first(answer: EnsembleAnswer, accepted: Accepted | None) -> None:
    assert settled(answer) == EnsembleState(accepted=accepted)


@pytest.mark.parametrize(
    ("answer", "reason_found"),
    [
        pytest.param(EnsembleAnswer(error="silence"), "ZooKeeperUnreachable", id="silence"),
        pytest.param(EnsembleAnswer(), "ZooKeeperOtherCluster", id="an empty one"),
        pytest.param(EnsembleAnswer(cluster_id="xyz"), "ZooKeeperOtherCluster", id="another"),
        pytest.param(
            EnsembleAnswer(cluster_id="abc", other_owner="a/b"), "ZooKeeperPathTaken", id="taken"
        ),
    ],
)
def test_a_set_stays_where_its_cluster_is(answer: EnsembleAnswer, reason_found: str) -> None:
    state = settled(answer, accepted=ELSEWHERE)
    assert (reason(state), state.accepted, state.is_stopped) == (reason_found, ELSEWHERE, False)
    followed = effective_spec(SPEC, state).zookeeper
    assert followed is not None
    assert followed.connect_string == "old:2181/prod"


def test_a_set_goes_where_the_same_cluster_is() -> None:
    state = settled(EnsembleAnswer(cluster_id="abc"), accepted=ELSEWHERE)
    assert state == EnsembleState(accepted=HERE)
    assert effective_spec(SPEC, state) == SPEC


def test_what_is_known_is_kept_when_nobody_is_asked() -> None:
    assert settled(None, accepted=HERE) == EnsembleState(accepted=HERE)


@pytest.mark.parametrize(
    ("answer", "is_new", "stop"),
    [
        (EnsembleAnswer(other_owner="a/b"), True, "ZooKeeperPathTaken"),
        (EnsembleAnswer(other_owner="a/b"), False, "ZooKeeperPathTaken"),
        (EnsembleAnswer(has_topics=True), True, "StaleMetadata"),
        (EnsembleAnswer(has_topics=True), False, None),
        (EnsembleAnswer(error="silence"), True, "ZooKeeperDisconnected"),
    ],
)
def test_what_stops_a_set(answer: EnsembleAnswer, is_new: bool, stop: str | None) -> None:
    state = settled(answer, is_new=is_new, brokers_cluster_id=None)
    assert (reason(state), state.is_stopped) == (stop, stop is not None)
