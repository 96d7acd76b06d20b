"""The candidates' metrics, for each BrokerSet."""

from random import Random

from prometheus_client import CollectorRegistry
from prometheus_client.exposition import generate_latest

from ballast.candidate.candidate import Candidate
from ballast.kube.api.resources import ObjectKey
from ballast.kube.candidates.candidate_specs import CandidateSpec, Cordons
from ballast.kube.candidates.candidates import CandidateSlot
from ballast.kube.candidates.controller_metrics import CandidatesCollector
from ballast.zk.client import SessionEvent, ZooKeeperClient


def no_zookeeper() -> ZooKeeperClient:
    raise AssertionError("no session is begun here")


def slot(name: str, candidate: Candidate | None) -> CandidateSlot:
    key = ObjectKey("brokersets", "a", name)
    return CandidateSlot(key=key, uid="u", spec=None, cordons=Cordons(), candidate=candidate)


def shown(*slots: CandidateSlot) -> list[str]:
    registry = CollectorRegistry()
    registry.register(CandidatesCollector(lambda: slots))
    return generate_latest(registry).decode().splitlines()


def candidate(elections_won: int) -> Candidate:
    made = Candidate(
        1_000_001, no_zookeeper, listen=("", 0), random=Random(1), wall_clock_ms=lambda: 0
    )
    made.elections_won = elections_won
    made.handled["BrokerChange"] = 2
    return made


def test_each_family_once_with_a_sample_for_each_broker_set() -> None:
    lines = shown(slot("one", candidate(1)), slot("two", candidate(5)), slot("none", None))
    name = "ballast_controller_elections_won"
    assert [line for line in lines if line.startswith(name)] == [
        f'{name}_total{{name="one",namespace="a"}} 1.0',
        f'{name}_total{{name="two",namespace="a"}} 5.0',
    ]
    assert sum(line.startswith(f"# TYPE {name}") for line in lines) == 1
    assert (
        'ballast_controller_events_total{name="one",namespace="a",type="BrokerChange"} 2.0' in lines
    )


def test_the_state_of_each_session_with_zookeeper() -> None:
    connected, lost = candidate(0), candidate(0)
    connected.session_event = SessionEvent.CONNECTED
    lost.session_event = SessionEvent.EXPIRED
    lines = shown(slot("one", connected), slot("two", lost), slot("three", candidate(0)))
    name = "ballast_zookeeper_session_state"
    assert [line for line in lines if line.startswith(name) and line.endswith(" 1.0")] == [
        f'{name}{{name="one",namespace="a",state="Connected"}} 1.0',
        f'{name}{{name="two",namespace="a",state="SessionLost"}} 1.0',
        f'{name}{{name="three",namespace="a",state="Connecting"}} 1.0',
    ]
    assert sum(line.startswith(name) for line in lines) == 9


def test_waits_keep_their_buckets_apart() -> None:
    one = candidate(0)
    one.waits.observe(0.02)
    lines = shown(slot("one", one))
    name = "ballast_event_queue_wait_seconds_bucket"
    assert f'{name}{{le="0.01",name="one",namespace="a"}} 0.0' in lines
    assert f'{name}{{le="0.05",name="one",namespace="a"}} 1.0' in lines


def test_a_set_whose_candidate_does_not_run_is_wanted_all_the_same() -> None:
    failing, external = slot("failing", None), slot("external", None)
    failing.spec = CandidateSpec.from_document({"spec": {"zookeeper": {"connect": "zk:2181"}}})
    lines = [line for line in shown(failing, external) if not line.startswith("#")]
    assert lines == ['ballast_controller_wanted{name="failing",namespace="a"} 1.0']
