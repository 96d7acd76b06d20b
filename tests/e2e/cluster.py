"""The Kubernetes cluster of KUBECONFIG as end-to-end tests use it: kubectl, helm, and waiting."""

import json
import os
import subprocess
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import yaml

ROOT = Path(__file__).parent.parent.parent
CHART = ROOT / "charts" / "ballast"
CRDS = ROOT / "crds"
EXAMPLES = CRDS / "examples"
IMAGE = os.environ.get("BALLAST_IMAGE", "ballast:dev")
OTHER_IMAGE = os.environ.get("BALLAST_NEXT_IMAGE", f"docker.io/library/{IMAGE}")
"""What brokers are upgraded to: without a registry the same image by another name."""
SPARK_IMAGE = os.environ.get("BALLAST_SPARK_IMAGE", "ballast-spark:dev")

COMMAND_TIMEOUT_S = 120.0
POLL_S = 0.3

Document = dict[str, Any]
Value = TypeVar("Value")


class CommandFailed(Exception):
    """kubectl or helm said no; the message is what it wrote."""


class WaitedTooLong(AssertionError):
    """What was waited for has not come."""


def call(*words: str, text: str | None = None, timeout_s: float = COMMAND_TIMEOUT_S) -> str:
    """Run a program and return what it wrote; raises `CommandFailed`."""
    done = subprocess.run(
        words, input=text, capture_output=True, text=True, timeout=timeout_s, check=False
    )
    if done.returncode:
        raise CommandFailed(f"{' '.join(words[:6])}…: {done.stderr.strip() or done.stdout.strip()}")
    return done.stdout


def eventually(
    what: str, look: Callable[[], Value | None], *, timeout_s: float, poll_s: float = POLL_S
) -> Value:
    """Return the first true answer; raises `WaitedTooLong`. A failing command is no answer."""
    end = time.monotonic() + timeout_s
    problem = ""
    while True:
        try:
            if found := look():
                return found
        except CommandFailed as error:
            problem = f" ({error})"
        if time.monotonic() > end:
            raise WaitedTooLong(f"{what}: not in {timeout_s:.0f} s{problem}")
        time.sleep(poll_s)


def nodes() -> tuple[str, ...]:
    """Return the names of the nodes; raises `CommandFailed`."""
    return tuple(call("kubectl", "get", "nodes", "-o", "name").replace("node/", "").split())


@dataclass(frozen=True, slots=True)
class Namespace:
    """One namespace, by kubectl."""

    name: str

    def kubectl(
        self, *words: str, text: str | None = None, timeout_s: float = COMMAND_TIMEOUT_S
    ) -> str:
        """Run kubectl in the namespace; raises `CommandFailed`."""
        return call("kubectl", "-n", self.name, *words, text=text, timeout_s=timeout_s)

    def apply(self, *documents: Mapping[str, Any]) -> None:
        """Apply objects."""
        self.kubectl("apply", "-f", "-", text=yaml.safe_dump_all(documents))

    def delete_all(self, *documents: Mapping[str, Any]) -> None:
        """Delete objects that were applied, those that are still there, and wait for their end."""
        words = ("--ignore-not-found", f"--timeout={COMMAND_TIMEOUT_S - 10:.0f}s")
        self.kubectl("delete", "-f", "-", *words, text=yaml.safe_dump_all(documents))

    def get(self, kind: str, name: str) -> Document:
        """Return one object; raises `CommandFailed` when there is none."""
        document: Document = json.loads(self.kubectl("get", kind, name, "-o", "json"))
        return document

    def list(self, kind: str, labels: str = "") -> list[Document]:
        """Return the objects that match."""
        words = ("-l", labels) if labels else ()
        items: list[Document] = json.loads(self.kubectl("get", kind, *words, "-o", "json"))["items"]
        return items

    def patch(self, kind: str, name: str, change: Mapping[str, Any]) -> None:
        """Change some fields of an object."""
        self.kubectl("patch", kind, name, "--type=merge", "-p", json.dumps(change))

    def delete(self, kind: str, name: str, *, timeout_s: float = COMMAND_TIMEOUT_S) -> None:
        """Delete an object and wait until it is gone."""
        words = ("--ignore-not-found", f"--timeout={timeout_s:.0f}s")
        self.kubectl("delete", kind, name, *words, timeout_s=timeout_s + 10)

    def wait(self, kind: str, name: str, condition: str, *, timeout_s: float) -> None:
        """Wait until a condition is true."""
        words = (f"--for=condition={condition}", f"{kind}/{name}", f"--timeout={timeout_s:.0f}s")
        self.kubectl("wait", *words, timeout_s=timeout_s + 10)

    def rollout(self, kind: str, name: str, *, timeout_s: float) -> None:
        """Wait until all pods are of the newest revision and ready."""
        words = ("rollout", "status", f"{kind}/{name}", f"--timeout={timeout_s:.0f}s")
        self.kubectl(*words, timeout_s=timeout_s + 10)


def condition(document: Mapping[str, Any], condition_type: str) -> Document:
    """Return a condition of an object's status; empty when it has none of that type."""
    conditions = document.get("status", {}).get("conditions", ())
    return next((found for found in conditions if found["type"] == condition_type), {})


def reason(document: Mapping[str, Any], condition_type: str) -> str:
    """Return a condition's reason, empty when there is no such condition."""
    return str(condition(document, condition_type).get("reason", ""))


def state(namespace: Namespace, reassignment: str) -> str:
    """Return the life of a reassignment in one word, empty before it was seen."""
    return reason(namespace.get("preassign", reassignment), "Succeeded")


def example(name: str) -> Document:
    """Return the one object of an example file."""
    document: Document = yaml.safe_load((EXAMPLES / name).read_text())
    return document
