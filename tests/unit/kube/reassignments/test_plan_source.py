"""Plans in ConfigMaps: Kafka's JSON, chunks and their index, and what is wrong with them."""

import base64
from typing import Any

import pytest

from ballast.kube.api.errors import ApiUnavailable
from ballast.kube.api.resources import CONFIG_MAPS
from ballast.kube.reassignments import plan_source
from ballast.kube.reassignments.plan_source import PlanNotReadable, entry, load_plan
from ballast.model.ids import TopicPartition
from ballast.reassign.plan.chunks import ChunkedPlan, write_plan
from ballast.reassign.plan.kafka_json import format_reassignment_json
from ballast.reassign.plan.plan import Plan
from ballast.reassign.spec.plan_manifest import PlanConfigMap
from tests.fakes.kubernetes import FakeKubernetes
from tests.unit.reassign.builders import ORIGINS, PLAN, TARGETS

SOURCE = PlanConfigMap(name="plan")


def config_map(name: str = "plan", **content: Any) -> dict[str, Any]:
    return {"metadata": {"name": name, "namespace": "ns"}, **content}


def api_with(*objects: dict[str, Any]) -> FakeKubernetes:
    api = FakeKubernetes()
    for document in objects:
        api.put(CONFIG_MAPS, document)
    return api


def chunked(plan: Plan) -> tuple[ChunkedPlan, list[dict[str, Any]]]:
    """Return a plan in chunks and the objects that hold it."""
    written = write_plan(plan.moves)
    index = written.index("move")
    objects = [config_map(data={"index.json": index.encode()})]
    for reference, chunk in zip(index.chunks, written.chunks, strict=True):
        text = base64.b64encode(chunk.data).decode()
        objects.append(config_map(reference.name, binaryData={"plan.gz": text}))
    return written, objects


def large_plan(partitions: int) -> Plan:
    targets = {TopicPartition("t", number): (1, 2) for number in range(partitions)}
    return Plan.of(targets, dict.fromkeys(targets, (1, 3)))


async def test_kafkas_json_is_read() -> None:
    api = api_with(config_map(data={"reassignment.json": format_reassignment_json(TARGETS)}))
    plan = await load_plan(api, "ns", SOURCE)
    assert plan.assignments.targets == TARGETS
    assert plan.assignments.origins is None
    assert plan.objects == ()
    assert plan.summary is None


async def test_a_plan_in_chunks_is_read_with_its_origins() -> None:
    written, objects = chunked(PLAN)
    plan = await load_plan(api_with(*objects), "ns", SOURCE)
    assert plan.assignments.targets == TARGETS
    assert plan.assignments.origins == ORIGINS
    assert [stored.name for stored in plan.objects] == [
        "plan",
        *(chunk.name for chunk in written.index("move").chunks),
    ]
    assert plan.objects[0].digest == PLAN.digest


async def test_an_unchanged_config_map_is_not_read_again() -> None:
    _, objects = chunked(PLAN)
    api = api_with(*objects)
    plan = await load_plan(api, "ns", SOURCE)
    api.requests.clear()
    assert await load_plan(api, "ns", SOURCE, plan) is plan
    assert len(api.requests) == 1
    api.put(CONFIG_MAPS, config_map(data={"x": format_reassignment_json(TARGETS)}))
    assert await load_plan(api, "ns", SOURCE, plan) != plan


async def test_a_large_plan_is_counted_and_not_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(plan_source, "EXECUTABLE_PARTITIONS", 1500)
    whole = large_plan(3000)
    _, objects = chunked(whole)
    plan = await load_plan(api_with(*objects), "ns", SOURCE)
    assert plan.assignments.targets == {}
    assert plan.summary is not None
    assert plan.summary.digest == whole.digest
    assert (plan.summary.partitions, plan.summary.replica_moves) == (3000, 3000)


async def test_a_plan_beyond_the_limit_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(plan_source, "MAX_PARTITIONS", 2999)
    _, objects = chunked(large_plan(3000))
    with pytest.raises(PlanNotReadable, match="has 3000 partitions, more than 2999: split it"):
        await load_plan(api_with(*objects), "ns", SOURCE)


async def test_json_beyond_what_is_executed_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(plan_source, "EXECUTABLE_PARTITIONS", 1)
    api = api_with(config_map(data={"x": format_reassignment_json(TARGETS)}))
    with pytest.raises(PlanNotReadable, match="has more than 1 partitions"):
        await load_plan(api, "ns", SOURCE)


async def test_a_chunk_that_is_not_the_one_of_the_index_is_refused() -> None:
    _, objects = chunked(PLAN)
    _, others = chunked(large_plan(3))
    objects[1]["binaryData"] = others[1]["binaryData"]
    with pytest.raises(PlanNotReadable, match=r"spec\.plan\.configMapRef: plan/index\.json: "):
        await load_plan(api_with(*objects), "ns", SOURCE)


async def test_a_chunk_that_is_not_there() -> None:
    _, objects = chunked(PLAN)
    with pytest.raises(PlanNotReadable, match="there is no ConfigMap move-plan-"):
        await load_plan(api_with(objects[0]), "ns", SOURCE)


async def test_an_api_that_does_not_answer_is_no_bad_plan() -> None:
    api = api_with(*chunked(PLAN)[1])
    api.fail_next("get")
    with pytest.raises(ApiUnavailable):
        await load_plan(api, "ns", SOURCE)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ({}, "spec.plan.configMapRef.key: is required: ConfigMap plan has 0 entries"),
        ({"data": {"a": "1", "b": "2"}}, "spec.plan.configMapRef.key: is required"),
        ({"data": {"a": "{"}}, "spec.plan.configMapRef: plan/a: The input string is not a valid"),
        ({"data": {"a": '{"format":"x"}'}}, "spec.plan.configMapRef: plan/a: not the index"),
        ({"data": {"a": '{"format":5}'}}, "spec.plan.configMapRef: plan/a: "),
        ({"binaryData": {"a": "/w=="}}, "spec.plan.configMapRef: plan/a is not UTF-8"),
        ({"binaryData": {"a": "no base64"}}, "spec.plan.configMapRef: ConfigMap plan has no bytes"),
    ],
)
async def test_what_is_no_plan_is_refused(content: dict[str, Any], message: str) -> None:
    with pytest.raises(PlanNotReadable) as caught:
        await load_plan(api_with(config_map(**content)), "ns", SOURCE)
    assert str(caught.value).startswith(message)


async def test_a_config_map_that_is_not_there() -> None:
    with pytest.raises(PlanNotReadable, match="there is no ConfigMap plan"):
        await load_plan(FakeKubernetes(), "ns", SOURCE)


@pytest.mark.parametrize(
    ("content", "key", "found"),
    [
        ({"data": {"a": "1"}}, None, ("a", b"1")),
        ({"data": {"a": "1", "b": "2"}}, "b", ("b", b"2")),
        ({"data": {"a": "1", "reassignment.json": "2"}}, None, ("reassignment.json", b"2")),
        ({"data": {"a": "1", "index.json": "2"}}, None, ("index.json", b"2")),
        ({"binaryData": {"a": "MQ=="}}, None, ("a", b"1")),
    ],
)
def test_which_entry_holds_the_plan(
    content: dict[str, Any], key: str | None, found: tuple[str, bytes]
) -> None:
    assert entry(config_map(**content), PlanConfigMap(name="plan", key=key)) == found


def test_an_entry_that_is_not_there() -> None:
    with pytest.raises(PlanNotReadable, match="ConfigMap plan has no entry b"):
        entry(config_map(data={"a": "1"}), PlanConfigMap(name="plan", key="b"))
