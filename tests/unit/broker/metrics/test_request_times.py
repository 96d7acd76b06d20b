from prometheus_client import CollectorRegistry
from prometheus_client.exposition import generate_latest

from ballast.broker.metrics.request_times import RequestTimes
from ballast.protocol.api_keys import ApiKey


def test_requests_are_counted_per_api_in_cumulative_buckets() -> None:
    times = RequestTimes("request_seconds")
    for seconds in (0.0, 0.001, 0.0011, 0.3, 99.0):
        times.observe(ApiKey.FETCH, seconds)
    times.observe(ApiKey.PRODUCE, 0.0)
    registry = CollectorRegistry()
    registry.register(times)
    lines = generate_latest(registry).decode().splitlines()
    assert 'request_seconds_bucket{api="fetch",le="0.001"} 2.0' in lines
    assert 'request_seconds_bucket{api="fetch",le="0.0025"} 3.0' in lines
    assert 'request_seconds_bucket{api="fetch",le="0.25"} 3.0' in lines
    assert 'request_seconds_bucket{api="fetch",le="0.5"} 4.0' in lines
    assert 'request_seconds_bucket{api="fetch",le="+Inf"} 5.0' in lines
    assert 'request_seconds_count{api="produce"} 1.0' in lines
