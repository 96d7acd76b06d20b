"""Apache Kafka's own command-line tools, run in one JVM per version."""

import base64
import json
import os
import selectors
import shutil
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.interop.kafka_jars import kafka_jars

SERVER = Path(__file__).parent / "KafkaToolServer.java"
TIMEOUT_S = 60

_TOOLS = "org.apache.kafka.tools"
CLASSES = {  # Where each tool's main is; Kafka moved them from one package to another.
    "broker-api-versions": ["kafka.admin.BrokerApiVersionsCommand"],
    "configs": ["kafka.admin.ConfigCommand"],
    "console-consumer": [f"{_TOOLS}.consumer.ConsoleConsumer", "kafka.tools.ConsoleConsumer"],
    "console-producer": ["kafka.tools.ConsoleProducer"],
    "consumer-perf-test": [f"{_TOOLS}.ConsumerPerformance", "kafka.tools.ConsumerPerformance"],
    "consumer-groups": [
        f"{_TOOLS}.consumer.group.ConsumerGroupCommand",
        "kafka.admin.ConsumerGroupCommand",
    ],
    "delete-records": [f"{_TOOLS}.DeleteRecordsCommand", "kafka.admin.DeleteRecordsCommand"],
    "dump-log": ["kafka.tools.DumpLogSegments"],
    "end-to-end-latency": ["kafka.tools.EndToEndLatency"],
    "get-offsets": [f"{_TOOLS}.GetOffsetShell", "kafka.tools.GetOffsetShell"],
    "leader-election": [f"{_TOOLS}.LeaderElectionCommand", "kafka.admin.LeaderElectionCommand"],
    "log-dirs": [f"{_TOOLS}.LogDirsCommand", "kafka.admin.LogDirsCommand"],
    "producer-perf-test": [f"{_TOOLS}.ProducerPerformance"],
    "reassign-partitions": [
        f"{_TOOLS}.reassign.ReassignPartitionsCommand",
        "kafka.admin.ReassignPartitionsCommand",
    ],
    "topics": [f"{_TOOLS}.TopicCommand", "kafka.admin.TopicCommand"],
    "verifiable-consumer": [f"{_TOOLS}.VerifiableConsumer"],
    "verifiable-producer": [f"{_TOOLS}.VerifiableProducer"],
}
_ALONE = {"console-consumer", "console-producer", "verifiable-consumer", "verifiable-producer"}
"""Tools that get a process each: they count in static fields, or end their work at exit."""

_LOG4J = """log4j.rootLogger=WARN, A
log4j.appender.A=org.apache.log4j.ConsoleAppender
log4j.appender.A.Target=System.err
log4j.appender.A.layout=org.apache.log4j.PatternLayout
log4j.appender.A.layout.ConversionPattern=%p %m (%c)%n
"""


@dataclass(frozen=True)
class ToolRun:
    """What a tool said, and the status with which it ended."""

    status: int
    out: str
    err: str

    @property
    def lines(self) -> list[str]:
        """The lines of standard output that are not empty."""
        return [line.strip() for line in self.out.splitlines() if line.strip()]


class KafkaTools:
    """The tools of one version of Kafka against one cluster."""

    def __init__(self, version: str, java: list[str], process: subprocess.Popen[bytes]) -> None:
        self.version = version
        self._java = java
        self._process = process

    def run(self, tool: str, *arguments: str, given: bytes = b"") -> ToolRun:
        """Run a tool to its end with ``given`` on its standard input."""
        if tool in _ALONE:
            return self._run_alone(tool, *arguments, given=given)
        request = {
            "classes": CLASSES[tool],
            "args": arguments,
            "input": base64.b64encode(given).decode(),
        }
        stdin, stdout = self._process.stdin, self._process.stdout
        assert stdin is not None
        assert stdout is not None
        stdin.write(json.dumps(request).encode() + b"\n")
        stdin.flush()
        answer = json.loads(self._read_line(stdout.fileno(), f"{tool} {' '.join(arguments)}"))
        return ToolRun(answer["status"], answer["out"], answer["err"])

    def check(self, tool: str, *arguments: str, given: bytes = b"") -> ToolRun:
        """Run a tool that is to end well."""
        done = self.run(tool, *arguments, given=given)
        assert done.status == 0, (tool, arguments, done.out, done.err)
        return done

    def _run_alone(self, tool: str, *arguments: str, given: bytes) -> ToolRun:
        name = CLASSES[tool][0] if self.version.startswith("3.") else CLASSES[tool][-1]
        done = subprocess.run(
            [*self._java, name, *arguments],
            input=given.decode(),
            capture_output=True,
            text=True,
            timeout=TIMEOUT_S,
            check=False,
        )
        return ToolRun(done.returncode, done.stdout, done.stderr)

    def _read_line(self, descriptor: int, what: str) -> bytes:
        deadline = time.monotonic() + TIMEOUT_S
        line = b""
        with selectors.DefaultSelector() as selector:
            selector.register(descriptor, selectors.EVENT_READ)
            while not line.endswith(b"\n"):
                if not selector.select(deadline - time.monotonic()):
                    self._process.kill()  # Its answer would be taken for that to the next request.
                    raise TimeoutError(f"{what}: no end within {TIMEOUT_S} s")
                chunk = os.read(descriptor, 1 << 20)
                assert chunk, f"{what}: the process ended"
                line += chunk
        return line


@contextmanager
def kafka_tools(version: str, directory: Path) -> Iterator[KafkaTools]:
    """Start the process that runs a version's tools; skip the test where it cannot be had."""
    jars = kafka_jars(version)
    log4j = directory / "log4j.properties"
    log4j.write_text(_LOG4J)
    java = [
        *(shutil.which("java") or "java", "-Xmx256m", "-XX:TieredStopAtLevel=1"),
        *("-XX:+UseSerialGC", f"-Dlog4j.configuration=file:{log4j}", "-cp", f"{jars}/*"),
    ]
    with subprocess.Popen(
        [*java, str(SERVER)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as process:
        try:
            yield KafkaTools(version, java, process)
        finally:
            process.kill()
