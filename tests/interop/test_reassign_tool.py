"""``ballast reassign`` says what kafka-reassign-partitions 2.8.2 says, and ends as it ends."""

import json
import re
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest
from confluent_kafka.admin import AdminClient, NewTopic

from ballast.cli.embedded.workload import Workload
from tests.interop.kafka_tools import KafkaTools, kafka_tools
from tests.interop.local_cluster import RunningCluster, ballast

WAIT_S = 30
PRELOAD_BYTES = 8 << 20
"""More than one fetch brings of each partition, however low the throttle."""

TOPIC = "twin"
ASSIGNMENT = [[1, 2], [2, 3]]
_EXCEPTION = re.compile(r"^Error: org\.apache\.kafka\.common\.errors\.\w+: ")
_REPLICAS = re.compile(r'"replicas":\[([\d,]*)\]')
_TRACE = re.compile(r"\tat |Caused by: |\t\.\.\. |[\w.$]+(Exception|Error)(: .*)?$")

pytestmark = pytest.mark.timeout(300)  # The first of them may fetch Kafka.


@dataclass(frozen=True)
class Said:
    """What one command said and how it ended."""

    status: int
    out: tuple[str, ...]
    complaint: str
    """The first line on standard error."""


Tool = Callable[[Sequence[str]], Said]


def plan(*partitions: tuple[object, ...], **extra: object) -> str:
    """Return a reassignment file: topic, partition, replicas[, log_dirs] of each partition."""
    names = ("topic", "partition", "replicas", "log_dirs")
    entries = [dict(zip(names, entry, strict=False)) for entry in partitions]
    return json.dumps({"version": 1, "partitions": entries, **extra})


FILES: Mapping[str, str] = {
    "move": plan((TOPIC, 0, [3, 2]), (TOPIC, 1, [1, 3])),
    "stay": plan((TOPIC, 0, [1, 2]), (TOPIC, 1, [2, 3])),
    "one": plan((TOPIC, 1, [3, 1])),
    "empty": plan(),
    "no-replicas": plan((TOPIC, 0, [])),
    "same-replica-twice": plan((TOPIC, 0, [1, 1])),
    "same-partition-twice": plan((TOPIC, 0, [1, 2]), (TOPIC, 0, [2, 3])),
    "unknown-broker": plan((TOPIC, 0, [1, 9])),
    "unknown-topic": plan(("unknown", 0, [1, 2])),
    "unknown-partition": plan((TOPIC, 0, [3, 2]), (TOPIC, 7, [1, 2])),
    "wrong-log-dirs": plan((TOPIC, 0, [1, 2], ["any"])),
    "version-2": plan((TOPIC, 0, [1, 2]), version=2),
    "not-json": "{",
    "no-partitions": "{}",
    "topic": json.dumps({"topics": [{"topic": TOPIC}], "version": 1}),
    "topic-twice": json.dumps({"topics": [{"topic": TOPIC}, {"topic": TOPIC}], "version": 1}),
    "topics-version-2": json.dumps({"topics": [{"topic": TOPIC}], "version": 2}),
}
TOPICS = {name for name in FILES if name.startswith("topic")}
"""The files that say which topics to move."""

OTHERWISE = {
    ("verify", "unknown-broker"): "Error: broker 9 is not alive",  # Theirs waits for a minute.
    ("cancel", "unknown-broker"): "Error: broker 9 is not alive",
    ("execute", "unknown-topic"): "Error: Topic unknown not found.",  # Theirs names no topic.
    ("execute", "not-json"): "Error: The input string is not a valid JSON",  # Theirs: Jackson's.
    ("verify", "not-json"): "Error: The input string is not a valid JSON",
    ("cancel", "not-json"): "Error: The input string is not a valid JSON",
}
"""Where our words differ, on purpose."""

SCENARIOS: Mapping[str, Sequence[str]] = {
    "moves": [
        "--list",
        "--execute --throttle 20000 @move",
        "--list",
        "--verify @move",
        "--verify --preserve-throttles @move",
        "--execute @move",
        "--execute --additional --throttle 50000000 @move",
        "until-still",
        "--list",
        "--verify --preserve-throttles @move",
        "--verify @move",
        "--verify @stay",
    ],
    "cancels": [
        "--execute --throttle 20000 @move",
        "--cancel --preserve-throttles @one",
        "--list",
        "--cancel @move",
        "--cancel @move",
        "--cancel --timeout 5000 @unknown-topic",
        "--list",
    ],
    "overrides": [
        "--execute --throttle 20000 @move",
        "--execute --additional --throttle 30000 @one",
        "--list",
        "--verify @one",
        "--cancel @move",
    ],
    "one": ["--execute @one", "until-still", "--verify @one", "--cancel @one"],
    **{
        f"{action}-refused": [
            f"--{action} @{name}"
            for name in FILES
            if name not in {"move", "stay", "one", *TOPICS} and (action, name) not in OTHERWISE
        ]
        for action in ("execute", "verify", "cancel")
    },
    "generates": [
        "--generate --broker-list 1,2 @topic",
        "--generate --broker-list 3,9,1 @topic",
        "--generate --broker-list 1,2,3 --disable-rack-aware @topic",
        "--generate --broker-list 1 @topic",
        "--generate --broker-list 1,2,1 @topic",
        "--generate --broker-list 1,x @topic",
        "--generate --broker-list 1,2 @topic-twice",
        "--generate --broker-list 1,2 @topics-version-2",
    ],
    "missing-file": ["--execute --reassignment-json-file nowhere.json"],
}
UNFIT = [
    "--generate",
    "--generate @topic",
    "--generate --broker-list 1,2 --throttle 5 @topic",
    "--list --disable-rack-aware",
    "",
    "--execute",
    "--verify",
    "--cancel",
    "--list --verify @move",
    "--list --throttle 5",
    "--list @move",
    "--verify --throttle 5 @move",
    "--verify --additional @move",
    "--execute --preserve-throttles @move",
    "--cancel --additional @move",
    "--cancel --throttle 1 @move",
]


@pytest.fixture(scope="module")
def kafkas(tmp_path_factory: pytest.TempPathFactory) -> Iterator[KafkaTools]:
    with kafka_tools("2.8.2", tmp_path_factory.mktemp("tools")) as running:
        yield running


def _how_many(replicas: re.Match[str]) -> str:
    return f'"replicas":{len(replicas[1].split(","))}'


class Bench:
    """Both tools on one cluster, each on a topic of the same name that nobody has touched."""

    def __init__(self, cluster: RunningCluster, kafkas: KafkaTools, directory: Path) -> None:
        self.servers = cluster.bootstrap_servers
        self._kafkas = kafkas
        self._directory = directory
        self._admin = AdminClient({"bootstrap.servers": self.servers})
        for name, content in FILES.items():
            (directory / name).write_text(content)

    def theirs(self, arguments: Sequence[str]) -> Said:
        done = self._kafkas.run("reassign-partitions", *arguments)
        return self._said(done.status, done.out, done.err)

    def ours(self, arguments: Sequence[str]) -> Said:
        done = ballast("reassign", *arguments)
        return self._said(done.returncode, done.stdout, done.stderr)

    def play(self, tool: Tool, steps: Sequence[str]) -> list[Said]:
        """Return what a tool says at each step."""
        new = NewTopic(TOPIC, num_partitions=2, replica_assignment=ASSIGNMENT)
        self._admin.create_topics([new])[TOPIC].result(WAIT_S)
        try:
            Workload(self.servers, TOPIC, 2).preload(PRELOAD_BYTES)
            said = []
            for step in steps:
                if step == "until-still":
                    self._until_still()
                else:
                    said.append(tool(self.arguments(step)))
            return said
        finally:
            self.theirs(self.arguments("--cancel @move"))
            self._admin.delete_topics([TOPIC])[TOPIC].result(WAIT_S)

    def arguments(self, step: str) -> list[str]:
        """Return the arguments of a step; ``@name`` stands for one of the files."""
        given = ["--bootstrap-server", self.servers]
        for word in step.split():
            if word.startswith("@"):
                kind = "topics-to-move" if word[1:] in TOPICS else "reassignment"
                given += [f"--{kind}-json-file", str(self._directory / word[1:])]
            else:
                given.append(word)
        return given

    def _until_still(self) -> None:
        deadline = time.monotonic() + WAIT_S
        while "No partition" not in self.theirs(self.arguments("--list")).out[0]:
            assert time.monotonic() < deadline
            time.sleep(0.1)

    @staticmethod
    def _said(status: int, out: str, err: str) -> Said:
        lines = [line.rstrip() for line in out.splitlines() if not _TRACE.match(line)]
        plain = tuple(_EXCEPTION.sub("Error: ", line) for line in lines if line)
        if "Proposed partition reassignment configuration" in plain:
            # Where a topic begins is drawn: the form is alike, the replicas are not.
            plain = (*plain[:-1], _REPLICAS.sub(_how_many, plain[-1]))
        return Said(status, plain, err.partition("\n")[0])


@pytest.fixture
def bench(cluster: RunningCluster, kafkas: KafkaTools, tmp_path: Path) -> Bench:
    return Bench(cluster, kafkas, tmp_path)


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_both_say_the_same(bench: Bench, scenario: str) -> None:
    steps = SCENARIOS[scenario]
    theirs = bench.play(bench.theirs, steps)
    ours = bench.play(bench.ours, steps)
    assert [(said.status, said.out) for said in ours] == [
        (said.status, said.out) for said in theirs
    ]


def test_ours_ends_alike_in_clearer_words(bench: Bench) -> None:
    said = bench.play(bench.ours, [f"--{action} @{name}" for action, name in OTHERWISE])
    for refused, words in zip(said, OTHERWISE.values(), strict=True):
        assert refused.status == 1
        assert refused.out[-1].startswith(words)


def test_both_refuse_the_same_options(bench: Bench) -> None:
    for options in UNFIT:
        arguments = bench.arguments(options)
        theirs, ours = bench.theirs(arguments), bench.ours(arguments)
        assert (ours.status, ours.complaint) == (theirs.status, theirs.complaint), options
