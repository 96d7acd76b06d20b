"""Record the requests of real clients: ``python -m tests.golden.protocol.record_clients``.

A broker of one partition, which answers just well enough, listens on loopback; each client talks
to it, and every new frame it sends is written to ``<client>.hex`` beside this file, one line each
(see README.md). Needs the clients of the ``dev`` extra.
"""

import asyncio
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

from ballast.protocol.api_keys import APIS, ApiKey
from ballast.protocol.error_codes import ErrorCode
from ballast.protocol.frames import (
    RequestHeader,
    decode_request,
    decode_request_header,
    encode_response,
)
from ballast.protocol.messages.cluster.api_versions import ApiVersion, ApiVersionsResponse
from ballast.protocol.messages.cluster.metadata import (
    MetadataResponse,
    MetadataResponseBroker,
    MetadataResponsePartition,
    MetadataResponseTopic,
)
from ballast.protocol.messages.records.fetch import (
    FetchableTopicResponse,
    FetchResponse,
    PartitionData,
)
from ballast.protocol.messages.records.init_producer_id import InitProducerIdResponse
from ballast.protocol.messages.records.list_offsets import (
    ListOffsetsPartitionResponse,
    ListOffsetsResponse,
    ListOffsetsTopicResponse,
)
from ballast.protocol.messages.records.produce import (
    PartitionProduceResponse,
    ProduceResponse,
    TopicProduceResponse,
)
from ballast.protocol.records import build_batch
from ballast.protocol.schema import Message

HERE = Path(__file__).parent
HOST = "127.0.0.1"
TOPIC = "golden"
FRAMES_PER_FORM = 3
"""How many different frames are kept per API, version and client."""


class Recorder:
    """The broker: answers, and keeps what it was sent."""

    def __init__(self, *, flexible: bool) -> None:
        self.port = 0
        self.flexible = flexible
        self.frames: dict[tuple[int, int], list[bytes]] = {}

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Answer one connection until it ends."""
        with suppress(asyncio.IncompleteReadError, ConnectionError):
            while True:
                size = int.from_bytes(await reader.readexactly(4), "big")
                frame = await reader.readexactly(size)
                answer = self.answer(frame)
                if answer is not None:
                    writer.write(answer)
        writer.close()

    def answer(self, frame: bytes) -> bytes | None:
        """Keep ``frame`` and return its answer, none for produce requests without acks."""
        header, _ = decode_request_header(frame)
        if not APIS[ApiKey(header.api_key)].request.VERSIONS.has(header.api_version):
            refusal = ApiVersionsResponse(error_code=ErrorCode.UNSUPPORTED_VERSION)
            return encode_response(header.correlation_id, refusal, 0)
        header, request = decode_request(frame)
        kept = self.frames.setdefault((header.api_key, header.api_version), [])
        if len(kept) < FRAMES_PER_FORM and len(frame) < 4096:
            kept.append(frame)
        response = self.respond(header, request)
        if getattr(request, "acks", -1) == 0:
            return None
        return encode_response(header.correlation_id, response, header.api_version)

    def respond(self, header: RequestHeader, request: Any) -> Message:
        """Return a plausible response; an empty one for all admin requests."""
        responders: dict[int, Callable[[], Message]] = {
            ApiKey.API_VERSIONS: self.api_versions,
            ApiKey.METADATA: self.metadata,
            ApiKey.INIT_PRODUCER_ID: lambda: InitProducerIdResponse(producer_id=7),
            ApiKey.PRODUCE: self.produce,
            ApiKey.LIST_OFFSETS: lambda: self.offsets(header.api_version),
            ApiKey.FETCH: lambda: self.fetch(request.session_id if request.topics else 1),
        }
        return responders.get(header.api_key, APIS[ApiKey(header.api_key)].response)()

    def produce(self) -> ProduceResponse:
        """Return success for the one partition."""
        done = PartitionProduceResponse(index=0, base_offset=1)
        return ProduceResponse(
            responses=(TopicProduceResponse(name=TOPIC, partition_responses=(done,)),)
        )

    def offsets(self, version: int) -> ListOffsetsResponse:
        """Return offset 0, in a list for version 0."""
        found = ListOffsetsPartitionResponse(offset=0, old_style_offsets=(0,) * (version == 0))
        return ListOffsetsResponse(
            topics=(ListOffsetsTopicResponse(name=TOPIC, partitions=(found,)),)
        )

    def api_versions(self) -> ApiVersionsResponse:
        """Return all versions, or those from before KIP-482 of the APIs that have such."""
        return ApiVersionsResponse(
            api_keys=tuple(
                ApiVersion(
                    api_key=key,
                    max_version=api.max_version
                    if self.flexible
                    else min(api.max_version, max(0, api.flexible_from - 1)),
                )
                for key, api in APIS.items()
            )
        )

    def metadata(self) -> MetadataResponse:
        """Return one broker, one topic, one partition."""
        partition = MetadataResponsePartition(
            partition_index=0, leader_id=1, leader_epoch=0, replica_nodes=(1,), isr_nodes=(1,)
        )
        return MetadataResponse(
            brokers=(MetadataResponseBroker(node_id=1, host=HOST, port=self.port),),
            cluster_id="golden",
            controller_id=1,
            topics=(MetadataResponseTopic(name=TOPIC, partitions=(partition,)),),
        )

    def fetch(self, session_id: int) -> FetchResponse:
        """Return one record."""
        data = PartitionData(
            partition_index=0,
            high_watermark=1,
            last_stable_offset=1,
            log_start_offset=0,
            records=build_batch([(b"k", b"v", 1_600_000_000_000)]),
        )
        topic = FetchableTopicResponse(topic=TOPIC, partitions=(data,))
        return FetchResponse(session_id=session_id, responses=(topic,))


def use_librdkafka(address: str) -> None:
    """Produce, consume and administrate with confluent-kafka."""
    import confluent_kafka  # noqa: PLC0415 - each client is loaded when its turn comes
    import confluent_kafka.admin as admin_module  # noqa: PLC0415

    servers = {"bootstrap.servers": address, "client.id": "golden"}
    for settings in ({"enable.idempotence": True}, {"compression.type": "gzip"}):
        producer = confluent_kafka.Producer({**servers, **settings})
        producer.produce(TOPIC, key=b"k", value=b"v" * 100, partition=0)
        producer.flush(5)
    consumer = confluent_kafka.Consumer({**servers, "group.id": "g", "enable.auto.commit": False})
    consumer.assign([confluent_kafka.TopicPartition(TOPIC, 0, 0)])
    consumer.poll(3)
    with suppress(confluent_kafka.KafkaException):
        consumer.get_watermark_offsets(confluent_kafka.TopicPartition(TOPIC, 0), timeout=3)
    admin = admin_module.AdminClient(servers)
    resource = admin_module.ConfigResource(admin_module.ResourceType.TOPIC, TOPIC)
    entry = admin_module.ConfigEntry(
        "retention.ms",
        "1000",
        incremental_operation=admin_module.AlterConfigOpType.SET,
    )
    changed = admin_module.ConfigResource(
        admin_module.ResourceType.TOPIC, TOPIC, incremental_configs=[entry]
    )
    calls: list[Callable[[], Any]] = [
        lambda: admin.create_topics([admin_module.NewTopic(TOPIC, 3, 1, config={"a": "b"})]),
        lambda: admin.create_topics(
            [admin_module.NewTopic(TOPIC, 2, replica_assignment=[[1], [1]])]
        ),
        lambda: admin.delete_topics([TOPIC]),
        lambda: admin.describe_configs([resource]),
        lambda: admin.incremental_alter_configs([changed]),
        lambda: admin.elect_leaders(
            confluent_kafka.ElectionType.PREFERRED, [confluent_kafka.TopicPartition(TOPIC, 0)]
        ),
    ]
    for call in calls:
        made = call()
        for future in made.values() if isinstance(made, dict) else [made]:
            with suppress(Exception):
                future.result(3)


def use_kafka_python(address: str) -> None:
    """Produce, consume and administrate with kafka-python."""
    import kafka  # noqa: PLC0415
    import kafka.admin as admin_module  # noqa: PLC0415

    servers = {"bootstrap_servers": address, "client_id": "golden"}
    producer = kafka.KafkaProducer(**servers, compression_type="gzip")
    producer.send(TOPIC, key=b"k", value=b"v" * 100, headers=[("h", b"1")])
    producer.flush(5)
    consumer = kafka.KafkaConsumer(**servers)
    consumer.assign([kafka.TopicPartition(TOPIC, 0)])
    consumer.seek_to_beginning()
    consumer.poll(2000)
    with suppress(Exception):
        consumer.offsets_for_times({kafka.TopicPartition(TOPIC, 0): 1_600_000_000_000})
    admin = kafka.KafkaAdminClient(**servers)
    partition = kafka.TopicPartition(TOPIC, 0)
    resource = admin_module.ConfigResource(admin_module.ConfigResourceType.TOPIC, TOPIC)
    calls: list[Callable[[], Any]] = [
        lambda: admin.create_topics([admin_module.NewTopic(TOPIC, 3, 1)]),
        lambda: admin.delete_topics([TOPIC]),
        lambda: admin.describe_configs([resource]),
        admin.describe_cluster,
        admin.describe_log_dirs,
        lambda: admin.alter_partition_reassignments({partition: [1, 2]}),
        lambda: admin.alter_partition_reassignments({partition: None}),
        admin.list_partition_reassignments,
        lambda: admin.perform_leader_election("PREFERRED", {TOPIC: [0]}),
    ]
    for call in calls:
        with suppress(Exception):
            call()


def use_aiokafka(address: str) -> None:
    """Produce and consume with aiokafka."""
    import aiokafka  # noqa: PLC0415

    async def talk() -> None:
        producer = aiokafka.AIOKafkaProducer(
            bootstrap_servers=address, client_id="golden", enable_idempotence=True
        )
        await producer.start()
        await producer.send_and_wait(TOPIC, b"v" * 100, key=b"k")
        await producer.stop()
        consumer = aiokafka.AIOKafkaConsumer(bootstrap_servers=address, client_id="golden")
        await consumer.start()
        consumer.assign([aiokafka.TopicPartition(TOPIC, 0)])
        await consumer.seek_to_beginning()
        await consumer.getmany(timeout_ms=1000)
        await consumer.stop()

    asyncio.run(talk())


CLIENTS = {
    "librdkafka": use_librdkafka,
    "kafka-python": use_kafka_python,
    "aiokafka": use_aiokafka,
}


async def record(name: str, *, flexible: bool) -> list[str]:
    """Let one client talk to a recorder; return a line per different frame."""
    recorder = Recorder(flexible=flexible)
    server = await asyncio.start_server(recorder.serve, HOST, 0)
    recorder.port = server.sockets[0].getsockname()[1]
    done = asyncio.Event()
    loop = asyncio.get_running_loop()

    def work() -> None:
        with suppress(Exception):
            CLIENTS[name](f"{HOST}:{recorder.port}")
        loop.call_soon_threadsafe(done.set)

    threading.Thread(target=work, daemon=True).start()
    async with asyncio.timeout(60):
        await done.wait()
    sys.stdout.write(f"{name}: {sorted(recorder.frames)}\n")
    return [
        f"request {key} {version} {frame.hex()}\n"
        for (key, version), frames in sorted(recorder.frames.items())
        for frame in dict.fromkeys(frames)
    ]


if __name__ == "__main__":
    for client in sys.argv[1:] or CLIENTS:
        lines = [
            line
            for flexible in (True, False)
            for line in asyncio.run(record(client, flexible=flexible))
        ]
        (HERE / f"{client}.hex").write_text("".join(dict.fromkeys(lines)))
