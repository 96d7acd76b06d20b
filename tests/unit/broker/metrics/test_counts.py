from prometheus_client import CollectorRegistry, generate_latest

from ballast.broker.metrics.counts import Counts


def test_counters_are_scraped_as_they_stand() -> None:
    counts, registry = Counts(), CollectorRegistry()
    registry.register(counts)
    bytes_in, requests = counts.make("bytes_in", "Bytes."), counts.make("requests", "Requests.")
    bytes_in.inc(5)
    bytes_in.inc()
    lines = generate_latest(registry).decode().splitlines()
    assert "# TYPE bytes_in_total counter" in lines
    assert "bytes_in_total 6.0" in lines
    assert "requests_total 0.0" in lines
    requests.inc()
    assert "requests_total 1.0" in generate_latest(registry).decode()
