"""Delays responses about new partitions until they have leaders.

Kafka ``DelayedCreatePartitions``: the client can produce at once. A topic without leaders at the
client's timeout is REQUEST_TIMED_OUT, although it was created.
"""

from collections.abc import Iterable, Mapping
from typing import Any, TypeVar

import msgspec

from ballast.broker.cluster.metadata_cache import MetadataCache
from ballast.protocol.error_codes import ErrorCode

Result = TypeVar("Result", bound=Any)
"""A topic's entry of a response, with ``name``, ``error_code`` and ``error_message``."""


async def with_timeouts(
    metadata: MetadataCache,
    results: Iterable[Result],
    expected: Mapping[str, int],
    timeout_s: float,
) -> tuple[Result, ...]:
    """Wait until topics have as many led partitions as ``expected``; return their results."""
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
