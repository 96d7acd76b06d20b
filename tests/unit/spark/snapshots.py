"""Snapshots as text and as chunks in ConfigMaps."""

import base64
import gzip
import random
from collections.abc import Sequence

from ballast.planner.snapshot.entries import BrokerEntry, TopicEntry
from ballast.planner.snapshot.lines import write_snapshot
from ballast.spark.chunks import Work
from tests.fakes.config_maps import FakeConfigMaps

WORK = Work(namespace="prod", reassignment="move", uid="u-1", plan_name="move-1", attempt="1")
DIGEST = "sha256:" + 64 * "0"


def snapshot_text(*, topics: int = 12, per_topic: int = 50, stranger: int | None = None) -> bytes:
    """Return a cluster of 9 brokers, 3 of them new, in 3 racks; its topics in no order.

    The broker ``stranger`` holds replicas, and nothing is told of it.
    """
    chance = random.Random(topics)
    entries = []
    for number in range(topics):
        rows = [_row(chance) for _ in range(per_topic)]
        if stranger is not None:
            rows[0][0] = stranger
        entries.append(TopicEntry(topic=f"t{number:03}", replicas=rows))
    chance.shuffle(entries)
    brokers = [BrokerEntry(id=n, rack=f"r{n % 3}") for n in range(9)]
    return b"".join(write_snapshot(brokers, entries))


def chunked(maps: FakeConfigMaps, text: bytes, *, lines: int = 4) -> None:
    """Put a snapshot into ConfigMaps, as the operator does."""
    rows = text.splitlines(keepends=True)
    put_chunks(maps, [b"".join(rows[at : at + lines]) for at in range(0, len(rows), lines)])


def put_chunks(maps: FakeConfigMaps, parts: Sequence[bytes], total: int | None = None) -> None:
    """Put texts into the ConfigMaps of a snapshot's chunks."""
    for number, part in enumerate(parts):
        maps.create(
            {
                "metadata": {
                    "name": f"move-1-snapshot-{number:04}",
                    "labels": {
                        "ballast.dev/reassignment": "move",
                        "ballast.dev/snapshot": "1",
                        "ballast.dev/chunk": str(number),
                    },
                    "annotations": {
                        "ballast.dev/chunks": str(len(parts) if total is None else total),
                        "ballast.dev/snapshot-digest": DIGEST,
                    },
                },
                "binaryData": {"snapshot.jsonl.gz": base64.b64encode(gzip.compress(part)).decode()},
            }
        )


def _row(chance: random.Random) -> list[int]:
    return [rack + 3 * chance.randrange(2) for rack in chance.sample(range(3), 3)]
