"""The history of load behind `ClusterAdmin`: the samples that a test puts there."""

from collections.abc import AsyncGenerator, Sequence

from ballast.model.load_samples import LoadSample, encode_sample
from ballast.reassign.ports import LoadHistoryTooLarge


def made_sample(
    topic: str, bytes_in: Sequence[int], *, end_ms: int, length_ms: int = 60_000
) -> LoadSample:
    """Return a sample of all partitions of a topic."""
    nothing = (0,) * len(bytes_in)
    return LoadSample(
        broker_id=1,
        topic=topic,
        start_ms=end_ms - length_ms,
        end_ms=end_ms,
        partitions=tuple(range(len(bytes_in))),
        bytes_in=tuple(bytes_in),
        bytes_out=nothing,
        produce_requests=nothing,
        fetch_requests=nothing,
        bytes=nothing,
    )


class FakeLoadHistory:
    """Samples in the order in which they were put there."""

    def __init__(self) -> None:
        self.samples: list[LoadSample] = []

    async def load_samples(
        self, *, since_ms: int, max_bytes: int
    ) -> AsyncGenerator[LoadSample, None]:
        for sample in self.samples:
            max_bytes -= len(encode_sample(sample))
            if max_bytes < 0:
                raise LoadHistoryTooLarge("ask for a shorter time")
            if sample.end_ms > since_ms:
                yield sample
