import dataclasses
from collections.abc import Mapping
from typing import Any

import pytest

from ballast.broker.config.config import BrokerConfig
from ballast.cli.servers.candidate_config import CandidateConfig
from ballast.model.settings.controller_config import ControllerConfig
from ballast.model.settings.fields import rows_of
from ballast.model.settings.keys import ConfigError
from tests.unit.broker.config.test_config import REQUIRED

CANDIDATE = {
    "controller.id": "7",
    "controller.listener": "127.0.0.1:9093",
    "zookeeper.connect": "zk1:2181",
}
GIVEN = {
    "num.partitions": "2",
    "default.replication.factor": "3",
    "delete.topic.enable": "false",
    "unclean.leader.election.enable": "true",
    "auto.leader.rebalance.enable": "false",
    "leader.imbalance.check.interval.seconds": "4",
    "leader.imbalance.per.broker.percentage": "5",
    "controller.socket.timeout.ms": "6",
    "socket.connection.setup.timeout.ms": "7",
    "socket.connection.setup.timeout.max.ms": "8",
}


def shared(config: Any) -> Mapping[str, object]:
    names = (field.name for field in dataclasses.fields(ControllerConfig))
    return {name: getattr(config, name) for name in names}


def test_the_test_names_them_all() -> None:
    assert {row.name for row in rows_of(ControllerConfig).values()} == set(GIVEN)


@pytest.mark.parametrize("given", [{}, GIVEN])
def test_a_broker_shows_what_a_candidate_acts_on(given: Mapping[str, str]) -> None:
    broker, _ = BrokerConfig.from_properties({**REQUIRED, **given})
    candidate, unknown = CandidateConfig.from_properties({**CANDIDATE, **given})
    assert not unknown
    assert shared(broker) == shared(candidate)


def test_what_was_set_is_taken() -> None:
    broker, _ = BrokerConfig.from_properties({**REQUIRED, **GIVEN})
    assert list(shared(broker).values()) == [2, 3, False, True, False, 4, 5, 6, 7, 8]


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("num.partitions", "0"),
        ("default.replication.factor", "32768"),
        ("delete.topic.enable", "maybe"),
        ("leader.imbalance.per.broker.percentage", "101"),
    ],
)
def test_a_bad_value_is_refused_by_name(name: str, value: str) -> None:
    with pytest.raises(ConfigError, match=name):
        CandidateConfig.from_properties({**CANDIDATE, name: value})
