"""franz-go's own tests of its client (package kgo), from the Go module, against running brokers."""

import json
import os
import shutil
import subprocess
from collections.abc import Iterable
from pathlib import Path

import pytest

from tests.interop.foreign_suites import Outcome, SuiteRun

MODULE = "github.com/twmb/franz-go@v1.22.2"
SUM = "h1:EdwIHGzD/4mgCpl/sNS0C74JYn6cL/r2KYS+8UC96Ww="
"""What Go computes over the module's files."""

RECORDS = 50_000
"""How many records the longest tests write, read, write again and read in chains of groups."""

FETCH_TIMEOUT_S = 300
RUN_TIMEOUT_S = 3000

NEEDS_TRANSACTIONS = "TestTxnEtl"
"""It is left out and not only excused: without transactions it writes and waits for ever."""

_OUTCOMES = {"pass": Outcome.PASSED, "fail": Outcome.FAILED, "skip": Outcome.SKIPPED}


def run(servers: str, folder: Path) -> SuiteRun:
    """Run every test but the transactions' against ``servers``; skip where there is no Go."""
    go = shutil.which("go")
    if go is None:
        pytest.skip("franz-go's tests need go on PATH")
    suite = _fetch(go, folder)
    output = folder / "output.json"
    with output.open("wb") as out, (folder / "errors.txt").open("wb") as errors:
        done = subprocess.run(
            [
                *(go, "test", "-json", "-vet=off", "-count=1", "-skip", NEEDS_TRANSACTIONS),
                *("-timeout", f"{RUN_TIMEOUT_S}s", "./pkg/kgo"),
            ],
            cwd=suite,
            env={
                **os.environ,
                "GOFLAGS": "-mod=readonly -buildvcs=false",
                "KGO_SEEDS": servers,
                "KGO_TEST_RF": "3",
                "KGO_TEST_RECORDS": str(RECORDS),
                "KGO_LOG_LEVEL": "none",
            },
            stdout=out,
            stderr=errors,
            timeout=FETCH_TIMEOUT_S + RUN_TIMEOUT_S,
            check=False,
        )
    assert done.returncode in (0, 1), (folder / "errors.txt").read_text()[-2000:]
    with output.open() as lines:
        outcomes = outcomes_of_go(lines)
    return SuiteRun(
        suite="franz-go pkg/kgo",
        outcomes={**outcomes, NEEDS_TRANSACTIONS: Outcome.SKIPPED},
        excused={NEEDS_TRANSACTIONS: "transactions"},
    )


def outcomes_of_go(lines: Iterable[str]) -> dict[str, Outcome]:
    """Read what ``go test -json`` writes; a test that never ended has failed.

    A test that has tests within is counted by these.
    """
    outcomes: dict[str, Outcome] = {}
    for line in lines:
        event = json.loads(line)
        if (name := event.get("Test")) is None:
            continue
        outcomes.setdefault(name, Outcome.FAILED)
        if event["Action"] in _OUTCOMES:
            outcomes[name] = _OUTCOMES[event["Action"]]
    parents = {name.rpartition("/")[0] for name in outcomes}
    return {name: outcome for name, outcome in outcomes.items() if name not in parents}


def _fetch(go: str, folder: Path) -> Path:
    """Return a copy of the module, which Go has checked against its public checksums."""
    fetched = subprocess.run(
        [go, "mod", "download", "-json", MODULE],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=FETCH_TIMEOUT_S,
        check=False,
    )
    if fetched.returncode != 0:
        pytest.skip(f"franz-go could not be fetched: {fetched.stdout[-300:]}")
    module = json.loads(fetched.stdout)
    assert module["Sum"] == SUM, "franz-go is not what it was"
    suite = folder / "franz-go"
    # Files in Go's cache are read-only, and so would be the copy's folders.
    shutil.copytree(module["Dir"], suite, copy_function=shutil.copyfile)
    for path in [suite, *suite.rglob("*")]:
        if path.is_dir():
            path.chmod(0o755)
    return suite
