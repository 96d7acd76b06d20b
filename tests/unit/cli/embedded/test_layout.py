import os
import sys
from pathlib import Path

import pytest

from ballast.broker.config.config import BrokerConfig
from ballast.broker.config.properties_file import parse_properties
from ballast.cli.embedded.layout import ClusterLayout
from ballast.cli.embedded.processes import ChildSpec
from ballast.cli.servers.candidate_config import CandidateConfig


def layout_in(
    folder: Path, *, brokers: int = 4, controllers: int = 2, **overrides: str
) -> ClusterLayout:
    return ClusterLayout(
        directory=folder,
        brokers=brokers,
        controllers=controllers,
        base_port=19092,
        overrides={name.replace("_", "."): value for name, value in overrides.items()},
    )


def rows_of(spec: ChildSpec) -> dict[str, str]:
    return parse_properties(Path(spec.argv[-1]).read_text())


@pytest.mark.parametrize(("brokers", "controllers"), [(1, 1), (4, 2), (50, 9)])
def test_no_two_children_share_a_port(brokers: int, controllers: int) -> None:
    layout = layout_in(Path("d"), brokers=brokers, controllers=controllers)
    assert len(set(layout.ports)) == len(layout.ports) == 1 + 2 * (brokers + controllers)
    assert max(layout.ports) - layout.base_port < 200


def test_clients_are_told_of_every_broker() -> None:
    layout = layout_in(Path("d"), brokers=2)
    assert layout.bootstrap_servers == "127.0.0.1:19092,127.0.0.1:19093"
    assert layout.zookeeper_connect == "127.0.0.1:19182"


def test_a_broker_accepts_its_properties(tmp_path: Path) -> None:
    spec = layout_in(tmp_path, log_segment_bytes="1048576").broker(3)
    assert spec.argv[:4] == (sys.executable, "-m", "ballast", "broker")
    assert spec.pid_path == tmp_path / "run" / "broker-3.pid"
    assert spec.log_path == tmp_path / "logs" / "broker-3.log"
    assert spec.environment == os.environ
    config, unknown = BrokerConfig.from_properties(rows_of(spec))
    assert not unknown
    assert (config.broker_id, config.log_dirs) == (3, (str(tmp_path / "data" / "broker-3"),))
    assert [(e.host, e.port) for e in config.listeners] == [("127.0.0.1", 19094)]
    assert config.http_listener == ("127.0.0.1", 19194)
    assert config.value("log.segment.bytes") == 1048576


def test_a_candidate_accepts_its_properties(tmp_path: Path) -> None:
    spec = layout_in(tmp_path, num_partitions="5").controller(2)
    assert spec.argv[:4] == (sys.executable, "-m", "ballast", "controller")
    config, unknown = CandidateConfig.from_properties(rows_of(spec))
    assert not unknown
    assert (config.controller_id, config.listener) == (2, ("127.0.0.1", 19153))
    assert config.http_listener == ("127.0.0.1", 19253)
    assert config.num_partitions == 5


@pytest.mark.parametrize(("brokers", "replicas"), [(1, "1"), (2, "2"), (3, "3"), (9, "3")])
def test_topics_have_as_many_replicas_as_there_are_brokers_up_to_three(
    brokers: int, replicas: str
) -> None:
    layout = layout_in(Path("d"), brokers=brokers)
    assert layout.broker_properties(1)["default.replication.factor"] == replicas
    assert layout.controller_properties(1)["default.replication.factor"] == replicas
    assert layout.broker_properties(1)["offsets.topic.replication.factor"] == replicas


def test_a_broker_may_have_several_log_directories(tmp_path: Path) -> None:
    layout = ClusterLayout(
        directory=tmp_path, brokers=2, controllers=1, base_port=19092, log_dirs=3, overrides={}
    )
    config, _ = BrokerConfig.from_properties(rows_of(layout.broker(2)))
    data = tmp_path / "data"
    assert config.log_dirs == tuple(
        str(data / name) for name in ("broker-2", "broker-2-dir-2", "broker-2-dir-3")
    )
