import pytest

from ballast.cli.kubectl.client import Document
from ballast.cli.kubectl.objects import Reassignment, amount, at, clean, number
from tests.unit.commands.kubectl_documents import condition, reassignment

PROGRESS = {
    "summary": "3/7 (42%)",
    "bytesRemaining": 3 * 1024**2,
    "bytesPerSecond": 1024,
    "eta": "51m",
}


@pytest.mark.parametrize(
    ("document", "expected"),
    [
        pytest.param({}, "Pending", id="new"),
        pytest.param(reassignment("Pending"), "Pending", id="seen"),
        pytest.param(
            reassignment(status={"progress": PROGRESS}),
            "Executing, 3/7 (42%), 3.0MiB to go, 1.0KiB/s, ETA 51m",
            id="executing",
        ),
        pytest.param(
            reassignment(
                status={"progress": PROGRESS},
                conditions=(condition("Progressing", "False", "UnderMinISR", "t-3 is"),),
            ),
            "Executing, 3/7 (42%), 3.0MiB to go, 1.0KiB/s, ETA 51m - UnderMinISR: t-3 is",
            id="held up",
        ),
        pytest.param(
            reassignment("Queued", status={"queue": {"position": 1, "blockedBy": ["other"]}}),
            "Queued - behind other",
            id="queued",
        ),
        pytest.param(
            reassignment(
                "AwaitingApproval",
                conditions=(condition("Approved", "False", "AwaitingApproval", "approve it"),),
            ),
            "AwaitingApproval",
            id="what the state says is not said twice",
        ),
        pytest.param(
            reassignment(
                "Pending", conditions=(condition("Accepted", "False", "UnknownTopic", "t"),)
            ),
            "Pending - UnknownTopic: t",
            id="not accepted",
        ),
        pytest.param(
            reassignment("Paused", conditions=(condition("Progressing", "False", "Paused", ""),)),
            "Paused",
            id="paused",
        ),
        pytest.param(
            reassignment("Failed", conditions=(condition("Stalled", "True", "X", "y"),)),
            "Failed - is Failed",
            id="ended",
        ),
    ],
)
def test_headline(document: Document, expected: str) -> None:
    assert Reassignment(document).headline == expected


def test_ended_and_begun() -> None:
    assert Reassignment(reassignment("Completed")).has_ended
    assert not Reassignment(reassignment("Executing")).has_ended
    assert not Reassignment({}).has_ended
    assert not Reassignment(reassignment()).has_begun
    assert Reassignment(reassignment(status={"startTime": "2026-01-01T00:00:00Z"})).has_begun


def test_digests() -> None:
    assert Reassignment({}).digest is None
    assert Reassignment({}).approved_digest is None
    approved = reassignment(spec={"approval": {"planDigest": "sha256:1"}})
    assert Reassignment(approved).approved_digest == "sha256:1"


def test_documents_may_lack_anything() -> None:
    assert at({"a": {"b": 1}}, "a", "b") == 1
    assert at({"a": [1]}, "a", "b") is None
    assert [number({"a": value}, "a") for value in (3, True, "3", None)] == [3, None, None, None]
    assert [amount(None), amount(5), amount(2048, "B/s")] == ["", "5B", "2.0KiB/s"]


def test_what_anybody_wrote_does_nothing_to_the_terminal() -> None:
    assert clean("a\x1b[2Jb\r\n\u202ec") == "a?[2Jb???c"
    assert clean(None) == ""
