"""A log's settings."""

import pytest

from ballast.storage.config import LogConfig
from ballast.storage.errors import InvalidLogConfig


def test_overrides_under_kafkas_names() -> None:
    config = LogConfig().with_overrides(
        {
            "segment.bytes": "1000",
            "segment.ms": "5",
            "index.interval.bytes": "0",
            "max.message.bytes": "7",
            "message.timestamp.type": "CreateTime",
            "retention.ms": "of another part",
        }
    )
    assert config == LogConfig(
        segment_bytes=1000, segment_ms=5, index_interval_bytes=0, max_message_bytes=7
    )
    assert LogConfig().with_overrides({}) == LogConfig()


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("segment.bytes", "13"),
        ("segment.bytes", str(2**31)),
        ("segment.ms", "0"),
        ("index.interval.bytes", "-1"),
        ("max.message.bytes", "1e6"),
        ("message.timestamp.type", "LogAppendTime"),
    ],
)
def test_bad_values_are_named(name: str, value: str) -> None:
    with pytest.raises(InvalidLogConfig, match=name):
        LogConfig().with_overrides({name: value})
