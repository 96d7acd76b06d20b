from prometheus_client import generate_latest

from ballast.broker.metrics.metrics import BrokerMetrics


def test_counters_and_gauges_are_scraped() -> None:
    metrics = BrokerMetrics()
    metrics.bytes_in.inc(5)
    metrics.gauge("things", "Things.", lambda: 7)
    lines = generate_latest(metrics.registry).decode().splitlines()
    assert "ballast_broker_bytes_in_total 5.0" in lines
    assert "ballast_broker_things 7.0" in lines


def test_two_brokers_in_one_process_count_apart() -> None:
    one, other = BrokerMetrics(), BrokerMetrics()
    one.produce_requests.inc()
    assert b"produce_requests_total 0.0" in generate_latest(other.registry)
