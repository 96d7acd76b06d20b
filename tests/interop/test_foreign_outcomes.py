import json
from pathlib import Path

import pytest

from tests.interop.foreign_kgo import outcomes_of_go
from tests.interop.foreign_suites import Outcome, SuiteRun, outcomes_of_junit

PASSED, FAILED, SKIPPED = Outcome.PASSED, Outcome.FAILED, Outcome.SKIPPED


def test_outcomes_of_pytest(tmp_path: Path) -> None:
    report = tmp_path / "report.xml"
    report.write_text(
        """<testsuites><testsuite>
        <testcase classname="test.integration.test_a" name="one"/>
        <testcase classname="test.integration.test_a" name="two[x]"><failure/></testcase>
        <testcase classname="test.integration.test_ssl_integration.C" name="three">
          <error/></testcase>
        <testcase classname="test.integration.test_a" name="four"><skipped/></testcase>
        <testcase classname="test.integration.test_a" name="five"/>
        <testcase classname="test.integration.test_a" name="five"><error/></testcase>
        </testsuite></testsuites>"""
    )
    assert outcomes_of_junit(report) == {
        "test_a.one": PASSED,
        "test_a.two[x]": FAILED,
        "test_ssl_integration.C.three": FAILED,
        "test_a.four": SKIPPED,
        "test_a.five": FAILED,
    }


def test_outcomes_of_go() -> None:
    events = [
        ("run", "TestA"),
        ("run", "TestA/one"),
        ("pass", "TestA/one"),
        ("run", "TestA/two"),
        ("skip", "TestA/two"),
        ("pass", "TestA"),
        ("run", "TestB"),
        ("fail", "TestB"),
        ("run", "TestHangs"),
        ("fail", None),
    ]
    lines = [
        json.dumps({"Action": action} | ({} if test is None else {"Test": test}))
        for action, test in events
    ]
    assert outcomes_of_go(lines) == {
        "TestA/one": PASSED,
        "TestA/two": SKIPPED,
        "TestB": FAILED,
        "TestHangs": FAILED,
    }


def test_what_cannot_pass_does_not_count() -> None:
    run = SuiteRun(
        suite="s",
        outcomes={
            "a": PASSED,
            "b": PASSED,
            "c": PASSED,
            "d": FAILED,
            "acl_x": FAILED,
            "e": SKIPPED,
        },
        excused={"acl": "ACLs"},
    )
    assert run.share == pytest.approx(0.75)
    assert run.summary().splitlines() == [
        "s: 3 passed, 1 failed, 1 skipped, 1 not counted (75.0 %)",
        "  failed: d",
        "  not counted: acl_x: ACLs",
    ]
