from ballast.broker.partitions.partition import LoadCounts, LoadDelta


def test_what_is_taken_is_not_taken_twice() -> None:
    counts = LoadCounts()
    counts.bytes_in += 10
    counts.bytes_out += 20
    counts.produce_requests += 1
    counts.fetch_requests += 2
    assert counts.take() == LoadDelta(10, 20, 1, 2)
    counts.bytes_out += 5
    assert counts.take() == LoadDelta(0, 5, 0, 0)
