from prometheus_client import CollectorRegistry, generate_latest

from ballast.ensemble.metrics import MemberCollector, read_mntr

MNTR = "zk_version\t3.9.5\nzk_server_state\tleader\nzk_znode_count\t17\nzk_avg_latency\t0.25\n\n"


def shown(mode: str, voters: int, mntr: str) -> list[str]:
    registry = CollectorRegistry()
    registry.register(MemberCollector(lambda: (mode, voters, read_mntr(mntr))))
    return generate_latest(registry).decode().splitlines()


def test_the_numbers_of_mntr_are_read() -> None:
    assert read_mntr(MNTR) == {"zk_znode_count": 17.0, "zk_avg_latency": 0.25}


def test_a_leader_shows_what_it_serves() -> None:
    lines = shown("leader", 3, MNTR)
    assert "ballast_zookeeper_serving 1.0" in lines
    assert "ballast_zookeeper_leader 1.0" in lines
    assert "ballast_zookeeper_voters 3.0" in lines
    assert "ballast_zookeeper_znodes 17.0" in lines


def test_a_server_that_waits_shows_that_it_serves_nothing() -> None:
    lines = shown("", 0, "")
    assert "ballast_zookeeper_serving 0.0" in lines
    assert not [line for line in lines if line.startswith("ballast_zookeeper_znodes")]
