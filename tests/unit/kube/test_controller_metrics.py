"""The candidates' metrics, for each BrokerSet."""

from random import Random

from prometheus_client import CollectorRegistry
from prometheus_client.exposition import generate_latest

from ballast.candidate.candidate import Candidate
from ballast.kube.candidate_specs import Cordons
from ballast.kube.candidates import Seat
from ballast.kube.controller_metrics import CandidatesCollector
from ballast.kube.resources import ObjectKey
from ballast.zk.client import ZooKeeperClient


def no_zookeeper() -> ZooKeeperClient:
    raise AssertionError("no session is begun here")


def seat(name: str, candidate: Candidate | None) -> Seat:
    key = ObjectKey("brokersets", "a", name)
    return Seat(key=key, uid="u", spec=None, cordons=Cordons(), candidate=candidate)


def candidate(elections_won: int) -> Candidate:
    made = Candidate(
        1_000_001, no_zookeeper, listen=("", 0), random=Random(1), wall_clock_ms=lambda: 0
    )
    made.elections_won = elections_won
    made.handled["BrokerChange"] = 2
    return made


def test_each_family_once_with_a_sample_for_each_broker_set() -> None:
    seats = [seat("one", candidate(1)), seat("two", candidate(5)), seat("none", None)]
    registry = CollectorRegistry()
    registry.register(CandidatesCollector(lambda: seats))
    lines = generate_latest(registry).decode().splitlines()
    name = "ballast_controller_elections_won"
    assert [line for line in lines if line.startswith(name)] == [
        f'{name}_total{{name="one",namespace="a"}} 1.0',
        f'{name}_total{{name="two",namespace="a"}} 5.0',
    ]
    assert sum(line.startswith(f"# TYPE {name}") for line in lines) == 1
    assert (
        'ballast_controller_events_total{name="one",namespace="a",type="BrokerChange"} 2.0' in lines
    )
