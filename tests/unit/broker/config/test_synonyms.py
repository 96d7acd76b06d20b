import pytest

from ballast.broker.config.config import BrokerConfig
from ballast.broker.config.synonyms import with_synonyms
from ballast.model.brokers import Endpoint


@pytest.mark.parametrize(
    ("given", "found"),
    [
        ({"log.dir": "/a"}, {"log.dirs": "/a"}),
        ({"log.dir": "/a", "log.dirs": "/b,/c"}, {"log.dirs": "/b,/c"}),
        ({"port": "9093"}, {"listeners": "PLAINTEXT://:9093"}),
        ({"host.name": "::1"}, {"listeners": "PLAINTEXT://[::1]:9092"}),
        ({"port": "1", "listeners": "PLAINTEXT://:2"}, {"listeners": "PLAINTEXT://:2"}),
        (
            {"host.name": "in", "advertised.host.name": "out"},
            {
                "listeners": "PLAINTEXT://in:9092",
                "advertised.listeners": "PLAINTEXT://out:9092",
            },
        ),
        ({"advertised.port": "7"}, {"advertised.listeners": "PLAINTEXT://:7"}),
        ({}, {}),
    ],
)
def test_older_names(given: dict[str, str], found: dict[str, str]) -> None:
    assert with_synonyms(given) == {**given, **found}


def test_a_broker_goes_by_them() -> None:
    given = {"broker.id": "1", "log.dir": "/a", "zookeeper.connect": "z:1", "port": "9"}
    config, _ = BrokerConfig.from_properties(given)
    assert config.log_dirs == ("/a",)
    assert config.listeners == (Endpoint(host="", port=9),)
