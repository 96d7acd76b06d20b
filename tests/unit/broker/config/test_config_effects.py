"""Each setting of a topic that changes appends has its effect, and code reads every row.

The effects of the others are tested beside the modules that cause them.
"""

import ast
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from ballast.broker.config.config import BrokerConfig
from ballast.broker.config.synonyms import with_synonyms
from ballast.cli.servers.candidate_config import CandidateConfig
from ballast.model.settings.fields import rows_of
from ballast.model.settings.keys import ConfigKey, Support, Synonym
from ballast.model.settings.table import BROKER_SETTINGS, TOPIC_SETTINGS
from ballast.protocol.compression import compress
from ballast.protocol.error_codes import ErrorCode
from ballast.protocol.record_reader import read_records
from ballast.protocol.records import build_batch, encode_records, iter_batches
from ballast.storage.log.config import LOG_ROWS, LogConfig
from tests.unit.broker.broker_cluster import EPOCH_MS, P0, TOPIC, Cluster, batch, simulate

ROOT = Path(__file__).parents[4]
OLD_MS = EPOCH_MS - 10 * 86_400_000
"""A time of ten days ago."""


def with_topic(cluster: Cluster, config: Mapping[str, str]) -> None:
    document = json.dumps({"version": 1, "config": dict(config)}).encode()
    cluster.zookeeper.put(f"/config/topics/{TOPIC}", document)


async def started(cluster: Cluster, config: Mapping[str, str]) -> None:
    with_topic(cluster, config)
    await cluster.start(1)
    await cluster.lead(P0, 1, [1])


async def stored(cluster: Cluster) -> bytes:
    return bytes((await cluster.fetch(1, P0, 0)).records or b"")


def old(*values: bytes, **fields: Any) -> bytes:
    return build_batch([(b"k", value, OLD_MS) for value in values], **fields)


def test_log_append_time_is_stored_and_answered() -> None:
    async def main(cluster: Cluster) -> None:
        await started(cluster, {"message.timestamp.type": "LogAppendTime"})
        answer = await cluster.produce(1, P0, old(b"x", b"y"))
        assert answer.error_code == ErrorCode.NONE
        assert answer.log_append_time_ms >= EPOCH_MS
        times = {record.timestamp_ms for record in read_records(await stored(cluster))}
        assert times == {answer.log_append_time_ms}

    simulate(main)


def test_a_batch_sent_twice_is_answered_with_its_first_time() -> None:
    async def main(cluster: Cluster) -> None:
        await started(cluster, {"message.timestamp.type": "LogAppendTime"})
        sent = old(b"x", producer_id=5, producer_epoch=0, base_sequence=0)
        first = await cluster.produce(1, P0, sent)
        await cluster.until(lambda: cluster.wall_clock_ms() > first.log_append_time_ms + 1000)
        second = await cluster.produce(1, P0, sent)
        assert (second.base_offset, second.log_append_time_ms) == (0, first.log_append_time_ms)

    simulate(main)


def test_records_appended_now_are_not_dropped_for_their_producers_times() -> None:
    async def main(cluster: Cluster) -> None:
        await started(cluster, {"message.timestamp.type": "LogAppendTime", "segment.ms": "1"})
        for _ in range(3):
            await cluster.produce(1, P0, old(b"x"))
        since = cluster.loop.now
        await cluster.until(lambda: cluster.loop.now > since + 700, within_s=900)
        assert cluster.brokers[1].replicas.partitions[P0].log.log_start_offset == 0

    simulate(main)


@pytest.mark.parametrize("where", ["topic", "broker", "cluster", "file"])
def test_times_too_far_from_the_brokers_are_refused_wherever_that_is_set(where: str) -> None:
    name = "log.message.timestamp.difference.max.ms"

    async def main(cluster: Cluster) -> None:
        config = json.dumps({"version": 1, "config": {name: "1000"}}).encode()
        if where in ("broker", "cluster"):
            entity = "1" if where == "broker" else "<default>"
            cluster.zookeeper.put(f"/config/brokers/{entity}", config)
        own = {"message.timestamp.difference.max.ms": "1000"} if where == "topic" else {}
        await started(cluster, own)
        refused = await cluster.produce(1, P0, old(b"x"))
        assert refused.error_code == ErrorCode.INVALID_TIMESTAMP
        now = build_batch([(None, b"y", cluster.wall_clock_ms())])
        assert (await cluster.produce(1, P0, now)).error_code == ErrorCode.NONE

    if where == "file":
        simulate(main, log_message_timestamp_difference_max_ms="1000")
    else:
        simulate(main)


@pytest.mark.parametrize(
    ("codec", "number"), [("uncompressed", 0), ("gzip", 1), ("snappy", 2), ("lz4", 3), ("zstd", 4)]
)
def test_batches_are_stored_with_the_topics_codec(codec: str, number: int) -> None:
    async def main(cluster: Cluster) -> None:
        await started(cluster, {"compression.type": codec})
        rows = [(b"k", b"v" * 500, EPOCH_MS)]
        await cluster.produce(1, P0, build_batch(rows))
        body = compress(1, encode_records(rows))
        await cluster.produce(1, P0, build_batch(rows, attributes=1, compressed=body))
        data = await stored(cluster)
        assert [header.compression for _, header in iter_batches(data)] == [number] * 2
        for position, _ in iter_batches(data):
            assert read_records(data, position)[0].value == b"v" * 500

    simulate(main)


def test_what_is_acknowledged_is_on_disk_when_each_message_is_flushed() -> None:
    async def main(cluster: Cluster) -> None:
        await started(cluster, {"flush.messages": "1"})
        await cluster.produce(1, P0, batch(b"x"))
        cluster.kill(1)
        cluster.disks[1].crash()
        await cluster.start(1)
        await cluster.lead(P0, 1, [1])
        assert [record.value for record in read_records(await stored(cluster))] == [b"x"]

    simulate(main)


def test_files_are_made_with_their_whole_size() -> None:
    async def main(cluster: Cluster) -> None:
        await started(cluster, {"preallocate": "true", "segment.bytes": "5000"})
        log = cluster.brokers[1].replicas.partitions[P0].log
        assert cluster.disks[1].size(log.segments.active.path) == 5000
        await cluster.produce(1, P0, batch(b"x"))
        await cluster.stop(1)
        await cluster.start(1)
        await cluster.lead(P0, 1, [1])
        assert [record.value for record in read_records(await stored(cluster))] == [b"x"]

    simulate(main)


def test_what_stands_in_zookeeper_and_is_not_in_force_is_not_shown() -> None:
    async def main(cluster: Cluster) -> None:
        await started(cluster, {"message.format.version": "0.10.0", "flush.ms": "7"})
        configs = cluster.brokers[1].context.configs
        assert configs.log_config(TOPIC) == LogConfig(flush_ms=7)

    simulate(main)


# -- code reads every row ---------------------------------------------------------------------


READ_BEFORE_PARSING = {
    name
    for name, row in BROKER_SETTINGS.items()
    if with_synonyms({name: row.default or "/"}) != {name: row.default or "/"}
}
"""Older names, which are converted to the present ones."""


def synonyms_of(row: ConfigKey) -> tuple[Synonym, ...]:
    return BROKER_SETTINGS[row.broker_name].synonyms if row.broker_name else ()


READ_ELSEWHERE = {
    "leader.replication.throttled.replicas": "DynamicConfigs.throttled_replicas",
    "follower.replication.throttled.replicas": "DynamicConfigs.throttled_replicas",
    "min.insync.replicas": "DynamicConfigs.min_insync_replicas",
    "unclean.leader.election.enable": "controller/machines/partition_states.py",
}
"""Settings of topics that are not of their logs."""


DECLARING = {"setting", "topic_setting", "default_of"}
"""Functions that name a row without reading what is in force."""

READ_BY_LOGS = {
    name
    for row in LOG_ROWS.values()
    for name in (row.broker_name, *(synonym.name for synonym in synonyms_of(row)))
}
"""What `DynamicConfigs.log_config` reads, by the rows of `LogConfig`."""


def attributes_and_texts() -> tuple[set[str], set[str]]:
    """Return the names of attributes that the product reads, and the texts outside the table."""
    attributes: set[str] = set()
    texts: set[Any] = set()
    for path in (ROOT / "operator" / "ballast").rglob("*.py"):
        if path.parent.name == "settings" or path.name == "config_keys.py":
            continue
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Load):
                attributes.add(node.attr)
            elif isinstance(node, ast.Call) and getattr(node.func, "id", "") not in DECLARING:
                texts |= {arg.value for arg in node.args if isinstance(arg, ast.Constant)}
            elif isinstance(node, ast.Tuple):
                texts |= {item.value for item in node.elts if isinstance(item, ast.Constant)}
            elif isinstance(node, ast.Assign | ast.AnnAssign) and isinstance(
                node.value, ast.Constant
            ):
                texts.add(node.value.value)
    return attributes, texts


def test_every_honoured_property_of_a_broker_is_read() -> None:
    fields = {row.name: field for field, row in rows_of(BrokerConfig).items()}
    fields |= {row.name: field for field, row in rows_of(CandidateConfig).items()}
    attributes, texts = attributes_and_texts()
    honoured = {name for name, row in BROKER_SETTINGS.items() if row.support is Support.HONOURED}
    unread = {
        name
        for name in honoured - READ_BEFORE_PARSING - READ_BY_LOGS
        if fields.get(name) not in attributes and name not in texts
    }
    assert not unread


def test_every_honoured_setting_of_a_topic_changes_something() -> None:
    honoured = {name for name, row in TOPIC_SETTINGS.items() if row.support is Support.HONOURED}
    unread = set()
    for name in honoured - READ_ELSEWHERE.keys():
        row = TOPIC_SETTINGS[name]
        other = {
            "cleanup.policy": "compact",
            "compression.type": "zstd",
            "message.timestamp.type": "LogAppendTime",
            "min.cleanable.dirty.ratio": "0.25",
            "preallocate": "true",
        }.get(name, "77")
        if LogConfig().with_overrides({name: other}) == LogConfig():
            unread.add(name)
        assert row.default != other
    assert not unread
    attributes, _ = attributes_and_texts()
    assert set(LogConfig.__dataclass_fields__) <= attributes
