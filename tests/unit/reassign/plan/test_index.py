import json
from typing import Any

import msgspec
import pytest

from ballast.reassign.errors import PlanRejected
from ballast.reassign.plan.index import (
    MAX_INDEX_BYTES,
    ChunkReference,
    PlanIndex,
    is_index,
    object_name,
)

DIGEST = "sha256:" + "0123456789abcdef" * 4
CHUNK = ChunkReference(
    name="move-plan-01234567-0", digest=DIGEST, stored_bytes=100, text_bytes=900, partitions=7
)
INDEX = PlanIndex(
    format="ballast-plan/v1",
    digest=DIGEST,
    partitions=7,
    replica_moves=9,
    leader_changes=2,
    chunks=(CHUNK,),
)


def document(**changes: object) -> dict[str, Any]:
    return {**json.loads(INDEX.encode()), **changes}


def chunk(**changes: object) -> dict[str, Any]:
    return {**document()["chunks"][0], **changes}


def test_text_of_an_index() -> None:
    assert document() == {
        "format": "ballast-plan/v1",
        "digest": DIGEST,
        "partitions": 7,
        "replicaMoves": 9,
        "leaderChanges": 2,
        "chunks": [
            {
                "name": "move-plan-01234567-0",
                "digest": DIGEST,
                "storedBytes": 100,
                "textBytes": 900,
                "partitions": 7,
            }
        ],
    }
    assert PlanIndex.decode(INDEX.encode()) == INDEX


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        pytest.param("", "not the index of a plan", id="empty"),
        pytest.param("[" * 500_000, "not the index of a plan", id="deep"),
        pytest.param(" " * (MAX_INDEX_BYTES + 1), "more than 786432 bytes", id="too long"),
        pytest.param(json.dumps(document(extra=1)), "unknown field `extra`", id="unknown field"),
        pytest.param(json.dumps(document(format="x/v2")), "format is 'x/v2'", id="format"),
        pytest.param(json.dumps(document(digest="sha256:0")), r"\$.digest", id="digest"),
        pytest.param(
            json.dumps(document(digest=DIGEST + "\n")), r"\$.digest", id="digest and more"
        ),
        pytest.param(json.dumps(document(partitions=-1)), r"\$.partitions", id="negative"),
        pytest.param(json.dumps(document(partitions=10**7)), r"\$.partitions", id="too many"),
        pytest.param(
            json.dumps(document(partitions=8)),
            "chunks of the plan have 7 partitions, its index says 8",
            id="sum",
        ),
        pytest.param(
            json.dumps(document(chunks=[chunk(name="../x")])), r"\$.chunks\[0\].name", id="name"
        ),
        pytest.param(
            json.dumps(document(chunks=[chunk(storedBytes=2**20)])),
            r"<= 786432 - at `\$.chunks\[0\].storedBytes",
            id="big chunk",
        ),
        pytest.param(
            json.dumps(document(chunks=[chunk(textBytes=2**30)])),
            r"<= 16777216 - at `\$.chunks\[0\].textBytes",
            id="bomb that says so",
        ),
        pytest.param(
            json.dumps(document(chunks=[chunk(), chunk()], partitions=14)),
            "names a chunk twice",
            id="doubled chunk",
        ),
        pytest.param(
            json.dumps(
                document(
                    chunks=[chunk(name=f"c{n}", textBytes=2**24) for n in range(33)],
                    partitions=7 * 33,
                )
            ),
            "more than 536870912 bytes",
            id="too much text",
        ),
        pytest.param(
            json.dumps(document(chunks=[chunk(name=f"c{n}") for n in range(1001)])),
            "length <= 1000",
            id="too many chunks",
        ),
    ],
)
def test_what_is_no_index(text: str, reason: str) -> None:
    with pytest.raises(PlanRejected, match=reason):
        PlanIndex.decode(text)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (INDEX.encode(), True),
        ('{"format":"ballast-plan/v2"}', True),
        ('{"version":1,"partitions":[]}', False),
        ("[]", False),
        ("[" * 100_000, False),
        ("", False),
    ],
)
def test_what_means_to_be_an_index(text: str, expected: bool) -> None:
    assert is_index(text) is expected


def test_names_of_objects() -> None:
    assert object_name("move", DIGEST) == "move-plan-01234567"
    assert object_name("move", DIGEST, 12) == "move-plan-01234567-12"
    long, other = (object_name("a" * 252 + end, DIGEST, 999) for end in "bc")
    assert long != other
    for name in (long, other):
        assert len(name) <= 253
        msgspec.convert({**chunk(), "name": name}, ChunkReference)
