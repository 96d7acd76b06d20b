"""Apache Kafka's jars, fetched by artifact name with Maven into the user's cache, once."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

FETCH_TIMEOUT_S = 240
VERSIONS = ("2.8.2", "3.9.1")

_POM = """<project xmlns="http://maven.apache.org/POM/4.0.0">
<modelVersion>4.0.0</modelVersion>
<groupId>dev.ballast</groupId><artifactId>kafka-for-tests</artifactId><version>1</version>
<dependencies>{dependencies}</dependencies>
</project>
"""
_DEPENDENCY = (
    "<dependency><groupId>{}</groupId><artifactId>{}</artifactId><version>{}</version></dependency>"
)
_LOGGING = {"2": ("slf4j-log4j12", "1.7.30"), "3": ("slf4j-reload4j", "1.7.36")}


def kafka_jars(version: str) -> Path:
    """Return the folder of a version's jars; skip the test where they cannot be had."""
    for program in ("java", "javac", "mvn"):
        if shutil.which(program) is None:
            pytest.skip(f"Apache Kafka's own programs need {program} on PATH")
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    folder = cache / "ballast" / f"kafka-{version}"
    if not (folder / "complete").exists():
        _fetch(version, folder)
    return folder / "lib"


def _fetch(version: str, folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    artifacts = [("org.apache.kafka", name, version) for name in ("kafka_2.13", "kafka-tools")]
    artifacts.append(("org.slf4j", *_LOGGING[version[0]]))
    pom = folder / "pom.xml"
    pom.write_text(
        _POM.format(dependencies="".join(_DEPENDENCY.format(*artifact) for artifact in artifacts))
    )
    try:
        fetched = _maven(pom, folder)
    except subprocess.TimeoutExpired:
        pytest.skip(f"Maven did not fetch Kafka {version} within {FETCH_TIMEOUT_S} s")
    if fetched.returncode != 0:
        pytest.skip(f"Maven could not fetch Kafka {version}: {fetched.stdout[-300:]}")
    (folder / "complete").touch()


def _maven(pom: Path, folder: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [
            *("mvn", "-q", "-B", "-f", str(pom), "dependency:copy-dependencies"),
            *("-DincludeScope=runtime", f"-DoutputDirectory={folder / 'lib'}"),
        ],
        capture_output=True,
        text=True,
        timeout=FETCH_TIMEOUT_S,
        check=False,
    )
