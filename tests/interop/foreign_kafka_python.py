"""kafka-python's own integration tests, from its source distribution, against running brokers."""

import re
import shutil
import subprocess
import sys
import tarfile
from pathlib import Path

import pytest

from tests.interop.foreign_suites import Outcome, SuiteRun, cache, outcomes_of_junit
from tests.interop.local_cluster import ROOT

FETCH_TIMEOUT_S = 300
RUN_TIMEOUT_S = 1500
TEST_TIMEOUT_S = 300

EXCUSED = {
    "test_admin_integration.test_create_describe_delete_acls": "ACLs",
    "test_producer_integration.test_transactional": "transactions",
    "test_ssl_integration": "starts Kafka itself, from its own archive, for TLS",
    "test_sasl_integration": "starts Kafka itself, from its own archive, for SASL",
}

_REQUIREMENT = re.compile(r"^kafka-python==(\S+)((?: \\\n +--hash=\S+)+)", re.MULTILINE)

_SERVICE = '''"""Stands in for what the source distribution leaves out: brokers run already."""


class ExternalService:
    def __init__(self, host, port):
        self.host, self.port = host, port

    def open(self):
        pass

    def close(self):
        pass


class SpawnedService:
    def __init__(self, *arguments):
        raise RuntimeError("brokers are not started by the tests")
'''


def run(server: str, folder: Path) -> SuiteRun:
    """Run every integration test against the broker at ``server``; skip without the tests.

    What failed is run once more: most of it waits for seconds that a busy machine does not have.
    """
    suite = _unpack(_fetch(), folder)
    outcomes = _run(server, suite, folder / "first")
    if Outcome.FAILED in outcomes.values():
        outcomes.update(_run(server, suite, folder / "second", "--last-failed"))
    return SuiteRun(suite="kafka-python", outcomes=outcomes, excused=EXCUSED)


def _run(server: str, suite: Path, folder: Path, *options: str) -> dict[str, Outcome]:
    folder.mkdir()
    report, output = folder / "report.xml", folder / "output.txt"
    with output.open("wb") as out:
        # The installed kafka-python is tested, not the copy beside the tests: it is the same.
        done = subprocess.run(
            [
                *(sys.executable, "-P", "-m", "pytest", "-c", "pyproject.toml", "--rootdir", "."),
                *("-p", "no:randomly", "-p", "no:xdist", "-o", f"cache_dir={suite}/cache"),
                *("-o", f"addopts=--timeout={TEST_TIMEOUT_S}", "-o", "log_level=WARNING"),
                *("-q", f"--junitxml={report}", *options, "test/integration"),
            ],
            cwd=suite,
            env=_environment(server, suite),
            stdout=out,
            stderr=subprocess.STDOUT,
            timeout=RUN_TIMEOUT_S,
            check=False,
        )
    assert done.returncode in (0, 1), output.read_text()[-2000:]
    return outcomes_of_junit(report)


def _environment(server: str, suite: Path) -> dict[str, str]:
    path = str(Path(sys.executable).parent)
    return {
        "PATH": f"{path}:/usr/bin:/bin",
        "HOME": str(suite),
        "KAFKA_URI": f"kafka://{server}",
        "KAFKA_VERSION": "2.8.2",
        "KAFKA_ROOT": str(suite / "servers"),
        "PROJECT_ROOT": str(suite),
    }


def _fetch() -> Path:
    """Return the source distribution of the version that requirements/dev.txt pins by hash."""
    pinned = _REQUIREMENT.search((ROOT / "requirements" / "dev.txt").read_text())
    assert pinned is not None
    folder = cache("kafka-python")
    archive = folder / f"kafka_python-{pinned[1]}.tar.gz"
    if not archive.exists():
        requirement = folder / "requirement.txt"
        requirement.write_text(pinned[0] + "\n")
        fetched = subprocess.run(
            [
                *(sys.executable, "-m", "pip", "download", "-q", "--no-deps", "--no-binary=:all:"),
                *("--require-hashes", "-r", str(requirement), "-d", str(folder)),
            ],
            capture_output=True,
            text=True,
            timeout=FETCH_TIMEOUT_S,
            check=False,
        )
        if fetched.returncode != 0:
            pytest.skip(f"kafka-python's tests could not be fetched: {fetched.stderr[-300:]}")
    return archive


def _unpack(archive: Path, folder: Path) -> Path:
    """Unpack the tests, and add two files that they import and the distribution lacks."""
    with tarfile.open(archive) as packed:
        packed.extractall(folder, filter="data")
    suite = folder / archive.name.removesuffix(".tar.gz")
    shutil.rmtree(suite / "kafka")
    (suite / "servers").mkdir()
    (suite / "test" / "__init__.py").touch()
    (suite / "test" / "service.py").write_text(_SERVICE)
    return suite
