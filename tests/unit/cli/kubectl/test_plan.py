from pathlib import Path

import pytest

from ballast.cli.kubectl.client import (
    CONFIG_MAPS,
    ClusterFlags,
    Document,
    Kubectl,
    ObjectNotFound,
)
from ballast.cli.kubectl.objects import Reassignment
from ballast.cli.kubectl.plan import (
    BrokerRow,
    PlanNotShown,
    broker_rows,
    counts_whole_cluster,
    read_summary,
)
from ballast.reassign.plan.chunks import write_plan
from ballast.reassign.plan.index import CHUNK_KEY, INDEX_KEY
from tests.fakes.kubectl import FakeKubectl
from tests.unit.commands.kubectl_documents import (
    PLAN,
    broker_set,
    condition,
    config_map,
    reassignment,
    saved_state,
)
from tests.unit.reassign.big_plans import big_plan

KUBECTL = Kubectl(ClusterFlags())
SUMMARY = write_plan(PLAN.moves).summary
CHUNKED = write_plan(big_plan(topics=3, partitions=1200))
GIB = 1024**3


@pytest.fixture
def fake(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> FakeKubectl:
    made = FakeKubectl(tmp_path)
    monkeypatch.setenv("PATH", str(made.folder))
    return made


def given_in_chunks(key: str = INDEX_KEY) -> list[Document]:
    """Return the ConfigMaps of a plan in chunks: the index named ``plan``, and the chunks."""
    index = CHUNKED.index("plan")
    return [
        config_map("plan", data={key: index.encode()}),
        *(
            config_map(reference.name, binary={CHUNK_KEY: chunk.data})
            for reference, chunk in zip(index.chunks, CHUNKED.chunks, strict=True)
        ),
    ]


def large(key: str | None = None) -> Reassignment:
    reference = {"name": "plan"} if key is None else {"name": "plan", "key": key}
    document = reassignment(
        "AwaitingApproval", spec={"plan": {"configMapRef": reference}}, plan=CHUNKED
    )
    document["status"]["plan"]["objects"] = [{"name": "plan", "digest": CHUNKED.summary.digest}]
    return Reassignment(document)


@pytest.mark.parametrize("parts", [0, 1, 3])
def test_a_plan_that_was_saved(fake: FakeKubectl, parts: int) -> None:
    for document in saved_state(parts=parts):
        fake.add(CONFIG_MAPS, document)
    assert read_summary(KUBECTL, Reassignment(reassignment())) == SUMMARY


@pytest.mark.parametrize("key", [None, "mine"])
def test_a_plan_that_was_given_in_chunks(fake: FakeKubectl, key: str | None) -> None:
    for document in given_in_chunks(key or INDEX_KEY):
        fake.add(CONFIG_MAPS, document)
    assert read_summary(KUBECTL, large(key)) == CHUNKED.summary


def test_a_chunk_that_is_not_there(fake: FakeKubectl) -> None:
    fake.add(CONFIG_MAPS, given_in_chunks()[0])
    with pytest.raises(ObjectNotFound):
        read_summary(KUBECTL, large())


def test_a_chunk_that_is_another(fake: FakeKubectl) -> None:
    index, chunk = given_in_chunks()
    fake.add(CONFIG_MAPS, index)
    fake.add(CONFIG_MAPS, {**chunk, "binaryData": {CHUNK_KEY: "AAAA"}})
    with pytest.raises(
        PlanNotShown, match=r"the plan of move cannot be read: plan-plan-.*-0: has 3"
    ):
        read_summary(KUBECTL, large())


@pytest.mark.parametrize(
    ("stored", "reason"),
    [
        pytest.param([], "is not stored where it can be read", id="nothing"),
        pytest.param(
            saved_state(uid="another"), "is not stored where it can be read", id="of another object"
        ),
        pytest.param(
            saved_state(PLAN.inverse()), "the plan found is .*, the status says", id="another plan"
        ),
        pytest.param(
            [{**saved_state()[0], "binaryData": {"document.json.gz": "AAAA"}}],
            "the plan of move cannot be read",
            id="not gzip",
        ),
        pytest.param(
            [{**saved_state()[0], "data": {}}], "the plan of move cannot be read", id="no parts"
        ),
    ],
)
def test_a_plan_that_cannot_be_shown(
    fake: FakeKubectl, stored: list[Document], reason: str
) -> None:
    for document in stored:
        fake.add(CONFIG_MAPS, document)
    with pytest.raises(PlanNotShown, match=reason):
        read_summary(KUBECTL, Reassignment(reassignment()))


def test_no_plan_yet(fake: FakeKubectl) -> None:
    waiting = reassignment(
        "Pending",
        status={"plan": {}},
        conditions=(condition("Accepted", "False", "UnknownTopic", "there is no t"),),
    )
    with pytest.raises(PlanNotShown, match="no plan yet: Pending - UnknownTopic: there is no t"):
        read_summary(KUBECTL, Reassignment(waiting))
    assert fake.calls == []


def test_counts_of_the_whole_cluster() -> None:
    rows = broker_rows(SUMMARY, Reassignment(reassignment()), broker_set())
    assert counts_whole_cluster(rows)
    assert rows == (
        BrokerRow(
            broker_id=1,
            replicas=(10, 11),
            leaders=(4, 5),
            replicas_in=1,
            replicas_out=0,
            bytes_in=GIB,
            bytes_held=(5 * GIB, 6 * GIB),
        ),
        BrokerRow(
            broker_id=2,
            replicas=(10, 11),
            leaders=(4, 5),
            replicas_in=1,
            replicas_out=0,
            bytes_in=GIB,
            bytes_held=(5 * GIB, 6 * GIB),
        ),
        BrokerRow(
            broker_id=3,
            replicas=(12, 10),
            leaders=(6, 4),
            replicas_in=0,
            replicas_out=2,
            bytes_in=0,
            bytes_held=(6 * GIB, 4 * GIB),
        ),
    )
    assert [row.changes for row in rows] == [2, 2, 4]


@pytest.mark.parametrize(
    ("known", "begun"),
    [
        pytest.param(None, False, id="no broker set"),
        pytest.param(broker_set(brokers=[{"id": 1}]), False, id="not told"),
        pytest.param(broker_set(brokers=[]), False, id="nothing told"),
        pytest.param(broker_set(), True, id="some has moved"),
    ],
)
def test_counts_of_the_plan_alone(known: Document | None, begun: bool) -> None:
    status = {"startTime": "2026-01-01T00:00:00Z"} if begun else {}
    rows = broker_rows(SUMMARY, Reassignment(reassignment(status=status)), known)
    assert not counts_whole_cluster(rows)
    found = [(row.broker_id, row.replicas, row.leaders, row.bytes_held) for row in rows]
    assert found == [
        (1, (1, 2), (0, 1), None),
        (2, (1, 2), (0, 1), None),
        (3, (2, 0), (2, 0), None),
    ]


def test_sizes_may_be_unknown() -> None:
    document = reassignment()
    del document["status"]["plan"]["bytesToMove"]
    rows = broker_rows(SUMMARY, Reassignment(document), None)
    assert [row.bytes_in for row in rows] == [None, None, None]
