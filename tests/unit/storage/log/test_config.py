"""A log's settings."""

import pytest

from ballast.storage.errors import InvalidLogConfig
from ballast.storage.log.config import LogConfig


def test_overrides_under_kafkas_names() -> None:
    config = LogConfig().with_overrides(
        {
            "segment.bytes": "1000",
            "segment.ms": "5",
            "index.interval.bytes": "0",
            "max.message.bytes": "7",
            "message.timestamp.type": "CreateTime",
            "cleanup.policy": "compact, delete",
            "retention.bytes": "-7",
            "retention.ms": "-1",
            "file.delete.delay.ms": "0",
            "min.insync.replicas": "of another part",
        }
    )
    assert config == LogConfig(
        segment_bytes=1000,
        segment_ms=5,
        index_interval_bytes=0,
        max_message_bytes=7,
        cleanup_policy=("compact", "delete"),
        retention_bytes=-7,
        retention_ms=-1,
        file_delete_delay_ms=0,
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
        ("cleanup.policy", "keep"),
        ("retention.ms", "-2"),
        ("retention.bytes", "much"),
        ("file.delete.delay.ms", "-1"),
        ("message.timestamp.type", "NoTime"),
    ],
)
def test_bad_values_are_named(name: str, value: str) -> None:
    with pytest.raises(InvalidLogConfig, match=name):
        LogConfig().with_overrides({name: value})
