"""Clients in pods: topics made and filled, and a workload that knows what was lost."""

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.e2e.cluster import IMAGE, CommandFailed, Document, Namespace, eventually

SCRIPT = Path(__file__).parent / "workload.py"
CLIENT = "client"
CONFIG_MAP = "workload"
START_TIMEOUT_S = 60.0
VERDICT_TIMEOUT_S = 180.0
RESTART_S = 120.0
"""A broker that was deleted is back in every ISR in so long, on a busy machine too."""


def client_pod(name: str, command: Sequence[str], *, bootstrap: str, node: str | None) -> Document:
    """Return a pod that runs a command beside the workload's script, as restricted as can be."""
    container = {
        "name": "client",
        "image": IMAGE,
        "imagePullPolicy": "IfNotPresent",
        "command": list(command),
        "env": [{"name": "BOOTSTRAP", "value": bootstrap}],
        "securityContext": {
            "allowPrivilegeEscalation": False,
            "capabilities": {"drop": ["ALL"]},
        },
        "volumeMounts": [{"name": "script", "mountPath": "/workload"}],
    }
    spec: Document = {
        "restartPolicy": "Never",
        "automountServiceAccountToken": False,
        "terminationGracePeriodSeconds": 1,
        "securityContext": {
            "runAsNonRoot": True,
            "runAsUser": 10001,
            "seccompProfile": {"type": "RuntimeDefault"},
        },
        "containers": [container],
        "volumes": [{"name": "script", "configMap": {"name": CONFIG_MAP}}],
    }
    if node is not None:
        spec["nodeName"] = node
    metadata = {"name": name, "labels": {"app": "workload"}}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec}


class Clients:
    """Runs clients in a namespace against one cluster of brokers."""

    def __init__(self, namespace: Namespace, bootstrap: str) -> None:
        self.namespace = namespace
        self.bootstrap = bootstrap

    def start(self) -> None:
        """Make the pod in which `create_topic`, `fill` and their like run, if it is not there."""
        script = {"workload.py": SCRIPT.read_text()}
        self.namespace.apply(
            {
                "apiVersion": "v1",
                "kind": "ConfigMap",
                "metadata": {"name": CONFIG_MAP},
                "data": script,
            }
        )
        self.start_pod(CLIENT, ("python", "-c", "import signal; signal.pause()"))

    def start_pod(self, name: str, command: Sequence[str], node: str | None = None) -> None:
        """Start a pod and wait until it runs."""
        self.namespace.apply(client_pod(name, command, bootstrap=self.bootstrap, node=node))
        self.namespace.wait("pod", name, "Ready", timeout_s=START_TIMEOUT_S)

    def create_topic(self, topic: str, replicas: str, *configs: str) -> None:
        """Create a topic whose partitions have these replicas: ``1:2,2:3``."""
        self._run("create", topic, replicas, *configs)

    def fill(self, topic: str, partitions: int, size_bytes: int) -> None:
        """Write that many bytes to each partition."""
        self._run("fill", topic, str(partitions), str(size_bytes))

    def delete_topic(self, topic: str) -> None:
        """Delete a topic, so that what comes later has less to carry."""
        self._run("delete", topic)

    def config(self, name: str) -> dict[str, str]:
        """Return the value of one config on each broker that is there, by its id."""
        values: dict[str, str] = json.loads(self._run("config", name))
        return values

    def at(self, bootstrap: str) -> "Clients":
        """Return clients of another cluster, in the same pod."""
        return Clients(self.namespace, bootstrap)

    def _run(self, *words: str) -> str:
        command = ("env", f"BOOTSTRAP={self.bootstrap}", "python", "/workload/workload.py", *words)
        return self.namespace.kubectl("exec", CLIENT, "--", *command)

    @contextmanager
    def load(
        self,
        topic: str,
        partitions: int,
        *,
        rate: int = 100,
        min_isr: int = 2,
        node: str | None = None,
    ) -> Iterator["Load"]:
        """Write and read while the context lasts; the verdict is there after it."""
        name = f"load-{topic}"
        words = ("run", topic, str(partitions), str(rate), str(min_isr))
        self.namespace.delete("pod", name)
        self.start_pod(name, ("python", "/workload/workload.py", *words), node)
        load = Load(self.namespace, name)
        load.wait_for_more()
        try:
            yield load
            load.finish()
        finally:
            self.namespace.delete("pod", name)


@dataclass
class Load:
    """A workload that runs."""

    namespace: Namespace
    pod: str
    verdict: Document | None = None

    def acknowledged(self) -> int:
        """Return how many records have been acknowledged."""
        return int(self._last_line().get("acknowledged", 0))

    def wait_for_more(self, records: int = 20, *, timeout_s: float = 60.0) -> None:
        """Wait until that many further records have been acknowledged."""
        before = self.acknowledged()
        what = f"{records} more acknowledged records"
        eventually(what, lambda: self.acknowledged() >= before + records, timeout_s=timeout_s)

    def finish(self) -> None:
        """Stop the workload and take its verdict."""
        self.namespace.kubectl("exec", self.pod, "--", "touch", "/tmp/stop")  # noqa: S108
        self.verdict = eventually("the verdict", self._verdict, timeout_s=VERDICT_TIMEOUT_S)

    def assert_nothing_lost(self) -> None:
        """Every acknowledged record was read, and there were some."""
        assert self.verdict is not None
        assert self.verdict["failure"] is None, self.verdict
        assert self.verdict["lost"] == 0, self.verdict
        assert self.verdict["acknowledged"] > 0, self.verdict

    def assert_safe(self) -> None:
        """Nothing was lost, and no partition was under its min ISR for longer than a restart."""
        self.assert_nothing_lost()
        assert self.verdict is not None
        assert self.verdict["longestUnderMinIsrSeconds"] < RESTART_S, self.verdict

    def _verdict(self) -> Document | None:
        line = self._last_line()
        return line if "lost" in line else None

    def _last_line(self) -> Document:
        try:
            lines = self.namespace.kubectl("logs", self.pod, "--tail=1").splitlines()
        except CommandFailed:
            return {}
        found: Any = json.loads(lines[-1]) if lines and lines[-1].startswith("{") else {}
        return dict(found)
