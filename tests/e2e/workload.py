"""A client in a pod: writes numbered records with acks=all, reads them, and reports lost ones.

It is a program of its own, mounted into a pod of the project's image, so it needs nothing but
`ballast`. Every record holds a number that is written once. Each second it prints what it has done
as a line of JSON; when the file STOP appears, it reads to the end, prints its verdict as the last
line, and exits with 0 if every acknowledged record is there, else 1.

    workload.py create TOPIC 1:2,2:3 [NAME=VALUE …]
    workload.py delete TOPIC
    workload.py config NAME
    workload.py fill TOPIC PARTITIONS BYTES
    workload.py run TOPIC PARTITIONS RECORDS_PER_SECOND MIN_ISR
"""

import asyncio
import itertools
import json
import os
import struct
import sys
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ballast.model.ids import TopicPartition
from ballast.net.admin.admin import AdminClient
from ballast.net.admin.cluster_connections import AdminOptions, parse_bootstrap_servers
from ballast.net.admin.configs import BROKER, describe_request
from ballast.net.admin.topics import (
    LATEST,
    TopicToCreate,
    create_topics,
    delete_topics,
    list_offsets,
)
from ballast.protocol.error_codes import ErrorCode
from ballast.protocol.messages.records import fetch as fetch_wire
from ballast.protocol.messages.records import produce as produce_wire
from ballast.protocol.record_reader import read_records
from ballast.protocol.records import build_batch, iter_batches
from ballast.reassign.ports import ClusterUnavailable

STOP = Path("/tmp/stop")  # noqa: S108 - the pod's own
NUMBER = struct.Struct(">q")
RECORD_BYTES = 1024
INTERVAL_S = 0.1
RETRY_S = 0.2
GIVE_UP_S = 90.0
"""A record that is not acknowledged in so long ends the workload: the cluster is stuck."""

ERRORS = {int(error): error for error in ErrorCode}
OPTIONS = AdminOptions(
    client_id="workload", request_timeout_s=10.0, connect_timeout_s=2.0, call_timeout_s=15.0
)


class Refused(Exception):
    """A broker answered with an error that no retry mends, or with one for too long."""


@dataclass
class History:
    """What was done and seen; ``acknowledged`` and ``seen`` by number."""

    acknowledged: set[int] = field(default_factory=set)
    seen: Counter[int] = field(default_factory=Counter)
    retries: int = 0
    slowest_s: float = 0.0
    under_min_isr_s: dict[int, float] = field(default_factory=dict)
    """Longest that each partition had fewer in sync than it needs."""
    leaderless_s: float = 0.0

    def verdict(self) -> dict[str, Any]:
        lost = self.acknowledged - self.seen.keys()
        return {
            "acknowledged": len(self.acknowledged),
            "read": len(self.seen),
            "lost": len(lost),
            "firstLost": sorted(lost)[:10],
            "duplicated": sum(count > 1 for count in self.seen.values()),
            "retries": self.retries,
            "slowestSeconds": round(self.slowest_s, 2),
            "longestUnderMinIsrSeconds": round(max(self.under_min_isr_s.values(), default=0.0), 1),
        }


class Client:
    """Produces to and fetches from leaders, wherever they go."""

    def __init__(self, bootstrap: str, topic: str) -> None:
        self.admin = AdminClient(parse_bootstrap_servers(bootstrap), OPTIONS)
        self.topic = topic
        self._leaders: dict[int, int] = {}

    async def leader(self, partition: int) -> int:
        known = self._leaders.get(partition, -1)
        if known < 0:
            view = await self.admin.describe_cluster({self.topic})
            self._leaders = {tp.partition: seen.leader for tp, seen in view.partitions.items()}
            known = self._leaders.get(partition, -1)
        if known < 0:
            raise ClusterUnavailable("no leader")
        return known

    async def produce(self, partition: int, batch: bytes) -> None:
        """Append with acks=all; raises `ClusterUnavailable` for what may be tried again."""
        data = produce_wire.PartitionProduceData(index=partition, records=batch)
        topic = produce_wire.TopicProduceData(name=self.topic, partition_data=(data,))
        request = produce_wire.ProduceRequest(acks=-1, timeout_ms=8000, topic_data=(topic,))
        answer = await self._ask(partition, request)
        self._check(partition, answer.responses[0].partition_responses[0].error_code)

    async def fetch(self, partition: int, offset: int) -> tuple[list[tuple[int, int]], int]:
        """Return (offset, number) of the records from an offset on, and the next offset."""
        data = fetch_wire.FetchPartition(
            partition=partition, fetch_offset=offset, partition_max_bytes=1024 * 1024
        )
        topic = fetch_wire.FetchTopic(topic=self.topic, partitions=(data,))
        request = fetch_wire.FetchRequest(max_wait_ms=0, min_bytes=0, topics=(topic,))
        answer = await self._ask(partition, request)
        part = answer.responses[0].partitions[0]
        self._check(partition, part.error_code)
        records = part.records or b""
        found = [
            (record.offset, NUMBER.unpack_from(record.value or b"")[0])
            for position, _ in iter_batches(records)
            for record in read_records(records, position)
            if record.offset >= offset
        ]
        return found, found[-1][0] + 1 if found else offset

    async def _ask(self, partition: int, request: Any) -> Any:
        try:
            return await self.admin.connections.ask_broker(await self.leader(partition), request)
        except ClusterUnavailable:
            self._leaders = {}
            raise

    def _check(self, partition: int, code: int) -> None:
        if code == ErrorCode.NONE:
            return
        self._leaders = {}
        error = ERRORS[code]
        if not error.retriable:
            raise Refused(f"partition {partition}: {error.name}")
        raise ClusterUnavailable(error.name)


async def write(
    client: Client, history: History, partition: int, numbers: Iterator[int], per_interval: int
) -> None:
    """Write batches to one partition until the stop file exists."""
    padding = bytes(RECORD_BYTES - NUMBER.size)
    while not STOP.exists():
        batch = [next(numbers) for _ in range(per_interval)]
        now_ms = int(time.time() * 1000)  # noqa: TID251 - a client's timestamps are the wall's
        records = build_batch([(None, NUMBER.pack(n) + padding, now_ms) for n in batch])
        await persist(client, history, partition, records)
        history.acknowledged.update(batch)
        await asyncio.sleep(INTERVAL_S)


async def persist(client: Client, history: History, partition: int, records: bytes) -> None:
    started = time.monotonic()
    while True:
        try:
            await client.produce(partition, records)
            break
        except ClusterUnavailable as error:
            if time.monotonic() - started > GIVE_UP_S:
                raise Refused(f"partition {partition}: {error} for {GIVE_UP_S} s") from error
            history.retries += 1
            await asyncio.sleep(RETRY_S)
    history.slowest_s = max(history.slowest_s, time.monotonic() - started)


async def read(client: Client, history: History, partition: int, done: asyncio.Event) -> None:
    """Read one partition from the start, and to its end once writing is done."""
    offset = 0
    failing_since = None
    while True:
        is_last_round = done.is_set()
        try:
            end = await end_of(client, partition) if is_last_round else None
            found, next_offset = await client.fetch(partition, offset)
        except ClusterUnavailable as error:
            failing_since = failing_since or time.monotonic()
            if time.monotonic() - failing_since > GIVE_UP_S:
                raise Refused(f"reading {partition}: {error} for {GIVE_UP_S} s") from error
            await asyncio.sleep(RETRY_S)
            continue
        failing_since = None
        history.seen.update(number for _, number in found if number >= 0)
        offset = next_offset
        if end is not None and offset >= end:
            return
        if not found:
            await asyncio.sleep(RETRY_S)


async def end_of(client: Client, partition: int) -> int:
    place = TopicPartition(client.topic, partition)
    offset = (await list_offsets(client.admin, {place: LATEST}))[place]
    if not isinstance(offset, int):
        raise ClusterUnavailable(offset.error)
    return offset


async def watch(client: Client, history: History, min_isr: int, done: asyncio.Event) -> None:
    """Note for how long partitions are under their min ISR, and print progress."""
    since: dict[int, float] = {}
    while not done.is_set():
        await asyncio.sleep(0.5)
        try:
            view = await client.admin.describe_cluster({client.topic})
        except ClusterUnavailable:
            continue
        now = time.monotonic()
        for place, partition in view.partitions.items():
            if len(partition.isr) >= min_isr:
                since.pop(place.partition, None)
                continue
            lasted = now - since.setdefault(place.partition, now)
            longest = history.under_min_isr_s.get(place.partition, 0.0)
            history.under_min_isr_s[place.partition] = max(longest, lasted)
        progress = {"acknowledged": len(history.acknowledged), "read": len(history.seen)}
        print(json.dumps(progress), flush=True)


async def run(bootstrap: str, topic: str, partitions: int, rate: int, min_isr: int) -> int:
    writer, reader = Client(bootstrap, topic), Client(bootstrap, topic)
    history = History()
    numbers = itertools.count()
    per_interval = max(1, round(rate * INTERVAL_S / partitions))
    done = asyncio.Event()
    failure = None
    try:
        async with asyncio.TaskGroup() as readers:
            for partition in range(partitions):
                readers.create_task(read(reader, history, partition, done))
            readers.create_task(watch(reader, history, min_isr, done))
            async with asyncio.TaskGroup() as writers:
                for partition in range(partitions):
                    writers.create_task(write(writer, history, partition, numbers, per_interval))
            done.set()
    except* Refused as group:
        failure = "; ".join(str(error) for error in leaves(group))
    verdict = {**history.verdict(), "failure": failure}
    print(json.dumps(verdict), flush=True)
    await writer.admin.close()
    await reader.admin.close()
    return 1 if verdict["lost"] or failure else 0


def leaves(group: BaseExceptionGroup[Refused]) -> Iterator[Refused]:
    """Yield the errors in a group of groups."""
    for error in group.exceptions:
        if isinstance(error, BaseExceptionGroup):
            yield from leaves(error)
        else:
            yield error


async def create(bootstrap: str, topic: str, replicas: str, *configs: str) -> int:
    """Create a topic whose partitions have these replicas: ``1:2,2:3``."""
    admin = AdminClient(parse_bootstrap_servers(bootstrap), OPTIONS)
    assignments = {
        number: tuple(int(broker) for broker in part.split(":"))
        for number, part in enumerate(replicas.split(","))
    }
    settings = dict(pair.split("=", 1) for pair in configs)
    wanted = TopicToCreate(name=topic, assignments=assignments, configs=settings)
    until = time.monotonic() + GIVE_UP_S
    while True:
        try:
            refused = await create_topics(admin, [wanted])
            break
        except ClusterUnavailable as error:
            if time.monotonic() > until:
                raise Refused(f"{topic} was not created: {error}") from error
            await asyncio.sleep(RETRY_S)
    await admin.close()
    errors = {error.error for error in refused.values()} - {"TOPIC_ALREADY_EXISTS"}
    print(json.dumps(sorted(errors)))
    return 1 if errors else 0


async def delete(bootstrap: str, topic: str) -> int:
    """Delete a topic; one that is not there is no failure."""
    admin = AdminClient(parse_bootstrap_servers(bootstrap), OPTIONS)
    refused = await delete_topics(admin, [topic])
    await admin.close()
    errors = {error.error for error in refused.values()} - {"UNKNOWN_TOPIC_OR_PARTITION"}
    print(json.dumps(sorted(errors)))
    return 1 if errors else 0


async def config(bootstrap: str, name: str) -> int:
    """Print the value of one config on each broker."""
    admin = AdminClient(parse_bootstrap_servers(bootstrap), OPTIONS)
    values = {}
    for broker in (await admin.describe_cluster(())).brokers:
        request = describe_request(BROKER, [str(broker.broker_id)], [name])
        answer = await admin.connections.ask_broker(broker.broker_id, request)
        values[str(broker.broker_id)] = answer.results[0].configs[0].value
    await admin.close()
    print(json.dumps(values))
    return 0


async def fill(bootstrap: str, topic: str, partitions: int, size: int) -> int:
    """Write that many bytes to each partition, as fast as they are taken."""
    client = Client(bootstrap, topic)
    history = History()
    now_ms = int(time.time() * 1000)  # noqa: TID251 - a client's timestamps are the wall's
    value = NUMBER.pack(-1) + bytes(RECORD_BYTES - NUMBER.size)
    batch_records = min(256, max(1, size // RECORD_BYTES))
    batch = build_batch([(None, value, now_ms)] * batch_records)

    async def fill_one(partition: int) -> None:
        for _ in range(max(1, size // (batch_records * RECORD_BYTES))):
            await persist(client, history, partition, batch)

    async with asyncio.TaskGroup() as tasks:
        for partition in range(partitions):
            tasks.create_task(fill_one(partition))
    await client.admin.close()
    return 0


def main(words: list[str]) -> int:
    bootstrap = os.environ["BOOTSTRAP"]
    match words:
        case ["create", topic, replicas, *configs]:
            return asyncio.run(create(bootstrap, topic, replicas, *configs))
        case ["delete", topic]:
            return asyncio.run(delete(bootstrap, topic))
        case ["config", name]:
            return asyncio.run(config(bootstrap, name))
        case ["fill", topic, partitions, size]:
            return asyncio.run(fill(bootstrap, topic, int(partitions), int(size)))
        case ["run", topic, partitions, rate, min_isr]:
            return asyncio.run(run(bootstrap, topic, int(partitions), int(rate), int(min_isr)))
        case _:
            print(__doc__, file=sys.stderr)
            return 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
