"""A reassignment of every partition of a topic, by ``ballast run`` in a process of its own."""

import json
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from tests.faults.observation import Cluster
from tests.interop.local_cluster import environment


class Move:
    """One manifest; `run` may be called again after its process was killed."""

    def __init__(
        self,
        cluster: Cluster,
        folder: Path,
        topic: str,
        targets: Mapping[int, list[int]],
        execution: Mapping[str, object],
    ) -> None:
        self._cluster = cluster
        self._manifest = folder / "move.yaml"
        self.output = folder / "move.out"
        assignments = [
            {"topic": topic, "partition": number, "replicas": replicas}
            for number, replicas in sorted(targets.items())
        ]
        manifest = {
            "apiVersion": "ballast.dev/v1alpha1",
            "kind": "PartitionReassignment",
            "metadata": {"name": "move"},
            "spec": {"plan": {"assignments": assignments}, "execution": execution},
        }
        self._manifest.write_text(json.dumps(manifest))

    @contextmanager
    def run(self) -> Iterator[subprocess.Popen[bytes]]:
        """Run the move until the block ends; what it says goes to `output`."""
        with (
            self.output.open("ab") as output,
            subprocess.Popen(
                [
                    *(sys.executable, "-m", "ballast", "run", "-f", str(self._manifest)),
                    *("--bootstrap-server", self._cluster.bootstrap_servers, "--output", "json"),
                ],
                env=environment(),
                stdout=output,
                stderr=output,
            ) as process,
        ):
            try:
                yield process
            finally:
                process.kill()
