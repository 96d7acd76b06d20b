"""The jars of Spark's Kafka source, fetched with Maven into the user's cache, once."""

import hashlib
import os
import shutil
import subprocess
from pathlib import Path

import pytest

FETCH_TIMEOUT_S = 240
PINNED = Path(__file__).parents[2] / "requirements" / "spark-jars.txt"


def pinned() -> dict[str, str]:
    """Return the SHA-256 of each artifact."""
    lines = PINNED.read_text().splitlines()
    return dict(line.split() for line in lines if not line.startswith("#"))


def spark_jars() -> list[Path]:
    """Return the jars; skip the test where they cannot be had."""
    for program in ("java", "mvn"):
        if shutil.which(program) is None:
            pytest.skip(f"Spark's Kafka source needs {program} on PATH")
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return [_jar(cache / "ballast" / "spark", *pin) for pin in pinned().items()]


def _jar(folder: Path, artifact: str, digest: str) -> Path:
    _, name, version = artifact.split(":")
    jar = folder / f"{name}-{version}.jar"
    if not jar.exists():
        _fetch(artifact, folder)
    assert hashlib.sha256(jar.read_bytes()).hexdigest() == digest, f"{jar} is not the pinned one"
    return jar


def _fetch(artifact: str, folder: Path) -> None:
    try:
        fetched = subprocess.run(
            [
                *("mvn", "-q", "-B", "dependency:copy"),
                *(f"-Dartifact={artifact}", f"-DoutputDirectory={folder}"),
            ],
            capture_output=True,
            text=True,
            timeout=FETCH_TIMEOUT_S,
            check=False,
        )
    except subprocess.TimeoutExpired:
        pytest.skip(f"Maven did not fetch {artifact} within {FETCH_TIMEOUT_S} s")
    if fetched.returncode != 0:
        pytest.skip(f"Maven could not fetch {artifact}: {fetched.stdout[-300:]}")
