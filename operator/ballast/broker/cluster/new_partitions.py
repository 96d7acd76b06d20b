"""Partitions that were just made: whoever asked for them is answered once they are led.

Kafka ``DelayedCreatePartitions``: a client can produce at once. What is not led when the client's
time is up is REQUEST_TIMED_OUT, although it was made.
"""

from collections.abc import Iterable, Mapping
from typing import Any, TypeVar

import msgspec

from ballast.broker.cluster.metadata_cache import MetadataCache
from ballast.protocol.error_codes import ErrorCode

Result = TypeVar("Result", bound=Any)
"""A topic's part of an answer, with its ``name``, ``error_code`` and ``error_message``."""


async def with_timeouts(
    metadata: MetadataCache,
    results: Iterable[Result],
    expected: Mapping[str, int],
    timeout_s: float,
) -> tuple[Result, ...]:
    """Wait until topics have as many led partitions as ``expected``; return what to answer."""
    await metadata.wait_until(
        lambda: all(metadata.is_led(*item) for item in expected.items()), max(timeout_s, 0)
    )
    late = {name for name, count in expected.items() if not metadata.is_led(name, count)}
    code = ErrorCode.REQUEST_TIMED_OUT
    return tuple(
        msgspec.structs.replace(result, error_code=code, error_message=code.message)
        if result.name in late
        else result
        for result in results
    )
