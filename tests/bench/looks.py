"""What a look at a BrokerSet of 200,000 partitions costs: CPU time, nothing is waited for.

From the bytes of a Metadata response to the decision: what the
network and Kubernetes need is left out.
"""

import statistics
import time
from collections.abc import Sequence
from dataclasses import replace

from ballast.brokersets.decide import decide
from ballast.brokersets.observation.observation import (
    Cluster,
    ControllerView,
    GateView,
    Observation,
    PodView,
    ZooKeeperState,
)
from ballast.brokersets.spec.parse import parse_broker_set
from ballast.brokersets.steps.decision_input import DecisionInput, InstallationDefaults
from ballast.cli.servers.long_running import collect_seldom
from ballast.net.admin.metadata_views import MetadataViews
from ballast.net.client.client_connection import LastResponse
from ballast.protocol.frames import SIZE_BYTES, encode_response
from ballast.protocol.messages.cluster.metadata import (
    MetadataResponse,
    MetadataResponseBroker,
    MetadataResponsePartition,
    MetadataResponseTopic,
)

PARTITIONS = 200_000
TOPICS = 2_000
BROKERS = 12
VERSION = 11
ROUNDS = 5
MAX_S = 0.3


def topic(number: int, in_sync: int = 3) -> MetadataResponseTopic:
    """Return a topic of three replicas, of which some are in sync."""
    partitions = []
    for index in range(PARTITIONS // TOPICS):
        replicas = tuple((number + index + i) % BROKERS for i in range(3))
        partitions.append(
            MetadataResponsePartition(
                partition_index=index,
                leader_id=replicas[0],
                replica_nodes=replicas,
                isr_nodes=replicas[:in_sync],
            )
        )
    return MetadataResponseTopic(name=f"topic-{number:05d}", partitions=tuple(partitions))


def frame(topics: Sequence[MetadataResponseTopic]) -> memoryview:
    """Return a response as it comes from a broker."""
    brokers = [MetadataResponseBroker(node_id=i, host=f"b{i}", port=9092) for i in range(BROKERS)]
    response = MetadataResponse(
        cluster_id="c", controller_id=1, brokers=tuple(brokers), topics=tuple(topics)
    )
    return memoryview(bytes(encode_response(1, response, VERSION)))[SIZE_BYTES:]


def world() -> DecisionInput:
    """Return a set whose brokers are all up."""
    document = {
        "metadata": {"name": "prod", "namespace": "kafka", "uid": "u", "generation": 1},
        "spec": {
            "replicas": BROKERS,
            "zookeeper": {"connect": "zookeeper:2181", "chroot": "/prod"},
            "storage": {"size": "1Gi"},
        },
    }
    pods = tuple(
        PodView(
            name=f"prod-broker-{ordinal}",
            uid=f"u{ordinal}",
            ordinal=ordinal,
            revision="r",
            is_ready=True,
            containers_ready=True,
            container_id=f"c{ordinal}",
            gate=GateView(is_true=True, reason="InSync"),
        )
        for ordinal in range(BROKERS)
    )
    observed = Observation(
        pods=pods,
        controller=ControllerView(identity="operator-0"),
        zookeeper=ZooKeeperState.CONNECTED,
    )
    return DecisionInput(
        spec=parse_broker_set(document),
        installation=InstallationDefaults(image="ballast"),
        observation=observed,
        now_ms=0,
    )


class Looker:
    """Looks, and what they remember of one another."""

    def __init__(self) -> None:
        self._last = LastResponse()
        self._views = MetadataViews()
        self._world = world()

    def look(self, answer: memoryview) -> float:
        """Return the seconds of CPU that a look at this answer takes."""
        began = time.process_time()
        view = self._views.view_of(self._last.decode(MetadataResponse, VERSION, answer))
        cluster = Cluster(
            live_brokers=frozenset(broker.broker_id for broker in view.brokers),
            partitions=view.partitions,
        )
        observed = replace(self._world.observation, cluster=cluster)
        decide(replace(self._world, observation=observed))
        return time.process_time() - began


def measure() -> dict[str, object]:
    """Return the figure: seconds of CPU of a look at rest, beside what they may be.

    The unit also names those of the first look, and of looks after which one topic or all changed.
    """
    collect_seldom()
    topics = [topic(number) for number in range(TOPICS)]
    same, one = frame(topics), frame([topic(0, 2), *topics[1:]])
    every = frame([topic(number, 2) for number in range(TOPICS)])
    looker = Looker()
    first = looker.look(same)
    rest = statistics.median(looker.look(same) for _ in range(ROUNDS))
    one_s, all_s = (
        statistics.median(_after(looker, same, answer) for _ in range(ROUNDS))
        for answer in (one, every)
    )
    return {
        "value": round(rest, 3),
        "unit": f"s (first {first:.2f}, one topic {one_s:.2f}, all {all_s:.2f})",
        "floor": MAX_S,
        "ratio": round(MAX_S / rest, 3),
    }


def _after(looker: Looker, before: memoryview, answer: memoryview) -> float:
    looker.look(before)
    return looker.look(answer)
