"""The API server as the user reaches it: through ``kubectl``, its credentials and its flags."""

import json
import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

Document = dict[str, Any]

REASSIGNMENTS = "partitionreassignments.ballast.dev"
BROKER_SETS = "brokersets.ballast.dev"
CONFIG_MAPS = "configmaps"

_REQUEST_TIMEOUT_S = 30
_PROCESS_TIMEOUT_S = 60


class KubectlFailed(Exception):
    """What kubectl says, in its own words, or why it could not be run."""


class ObjectNotFound(KubectlFailed):
    """There is no such object."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterFlags:
    """Which cluster and namespace; None = as kubectl's configuration says."""

    namespace: str | None = None
    context: str | None = None
    kubeconfig: str | None = None

    def over(self, outer: "ClusterFlags") -> "ClusterFlags":
        """Return these flags, and those of ``outer`` where there are none."""
        return ClusterFlags(
            namespace=self.namespace or outer.namespace,
            context=self.context or outer.context,
            kubeconfig=self.kubeconfig or outer.kubeconfig,
        )

    def arguments(self) -> list[str]:
        """Return them as arguments, one word each, so that no value is taken for a flag."""
        given = {
            "--namespace": self.namespace,
            "--context": self.context,
            "--kubeconfig": self.kubeconfig,
        }
        return [f"{flag}={value}" for flag, value in given.items() if value is not None]


class Kubectl:
    """Calls kubectl, once for each request. Raises `KubectlFailed`."""

    def __init__(self, flags: ClusterFlags) -> None:
        self._flags = flags

    def get(self, resource: str, name: str) -> Document:
        """Return one object. Raises `ObjectNotFound` too."""
        return self._read("get", resource, "--output=json", "--", name)

    def list(self, resource: str) -> list[Document]:
        """Return all objects of the namespace, ordered by name."""
        items = self._read("get", resource, "--output=json").get("items")
        if not isinstance(items, list):
            raise KubectlFailed(f"kubectl get {resource}: the answer is not a list")
        return sorted(items, key=lambda item: str(item["metadata"]["name"]))

    def patch(self, resource: str, name: str, patch: Document) -> Document:
        """Merge a patch into one object, and return what it is then."""
        text = json.dumps(patch, separators=(",", ":"))
        return self._read(
            "patch", resource, "--type=merge", f"--patch={text}", "--output=json", "--", name
        )

    def _read(self, verb: str, *arguments: str) -> Document:
        text = self._run([verb, *arguments])
        try:
            document = json.loads(text)
        except (ValueError, RecursionError) as error:
            raise KubectlFailed(f"kubectl {verb}: the answer is not JSON") from error
        if not isinstance(document, dict):
            raise KubectlFailed(f"kubectl {verb}: the answer is not an object")
        return document

    def _run(self, words: Sequence[str]) -> str:
        program = shutil.which("kubectl")
        if program is None:
            raise KubectlFailed("kubectl is not on the PATH")
        verb, *rest = words
        command = [program, verb, *self._flags.arguments()]
        command += [f"--request-timeout={_REQUEST_TIMEOUT_S}s", *rest]
        try:
            done = subprocess.run(  # noqa: S603 - the kubectl that the user would run
                command,
                capture_output=True,
                check=False,
                stdin=subprocess.DEVNULL,
                text=True,
                timeout=_PROCESS_TIMEOUT_S,
            )
        except subprocess.TimeoutExpired as error:
            raise KubectlFailed(f"kubectl {verb}: no answer in {_PROCESS_TIMEOUT_S} s") from error
        except (OSError, UnicodeDecodeError) as error:
            raise KubectlFailed(f"kubectl {verb}: {error}") from error
        if done.returncode == 0:
            return done.stdout
        said = done.stderr.strip() or f"kubectl {verb} ended with {done.returncode}"
        if "(NotFound)" in said:
            raise ObjectNotFound(said)
        raise KubectlFailed(said)
