"""The requests that each method of the client sends."""

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

import pytest

from ballast.kube.api.client import KubernetesClient
from ballast.kube.api.errors import ApiUnavailable, Conflict, Expired
from ballast.kube.api.ports import PatchType
from ballast.kube.api.resources import BROKER_SETS, LEASES, NODES, PODS
from tests.fakes.clocks import YieldingClock
from tests.fakes.http_api import HttpApi, Reply

SETS = "/apis/ballast.dev/v1alpha1/namespaces/a/brokersets"
TYPED = {"apiVersion": "ballast.dev/v1alpha1", "kind": "BrokerSet"}
MANAGED = {"fieldManager": "ballast-operator"}
FORCED = {**MANAGED, "force": "true"}
OPTIONS = {"kind": "DeleteOptions", "apiVersion": "v1", "propagationPolicy": "Background"}
JSON_PATCH = [{"op": "remove", "path": "/spec/x"}]

Call = Callable[[KubernetesClient], Awaitable[Any]]


@asynccontextmanager
async def opened(api: HttpApi) -> AsyncIterator[KubernetesClient]:
    async with api.served(), KubernetesClient.opened(api.login, YieldingClock()) as client:
        yield client


CALLS: list[tuple[str, Call, str, str, dict[str, str], str, Any]] = [
    (
        "get", lambda c: c.get(BROKER_SETS, "a", "one"),
        "GET", f"{SETS}/one", {}, "json", None,
    ),
    (
        "get of the cluster's", lambda c: c.get(NODES, None, "n"),
        "GET", "/api/v1/nodes/n", {}, "json", None,
    ),
    (
        "create", lambda c: c.create(BROKER_SETS, "a", {"metadata": {"name": "one"}}),
        "POST", SETS, MANAGED, "json", {**TYPED, "metadata": {"name": "one"}},
    ),
    (
        "apply", lambda c: c.apply(BROKER_SETS, "a", "one", {"spec": {"replicas": 3}}),
        "PATCH", f"{SETS}/one", FORCED, "apply-patch+yaml",
        {**TYPED, "metadata": {"name": "one"}, "spec": {"replicas": 3}},
    ),
    (
        "apply status", lambda c: c.apply_status(BROKER_SETS, "a", "one", {"replicas": 3}),
        "PATCH", f"{SETS}/one/status", FORCED, "apply-patch+yaml",
        {**TYPED, "metadata": {"name": "one"}, "status": {"replicas": 3}},
    ),
    (
        "replace",
        lambda c: c.replace(BROKER_SETS, "a", "one", {"metadata": {"resourceVersion": "7"}}),
        "PUT", f"{SETS}/one", MANAGED, "json", {**TYPED, "metadata": {"resourceVersion": "7"}},
    ),
    (
        "merge patch", lambda c: c.patch(BROKER_SETS, "a", "one", {"spec": {"replicas": 3}}),
        "PATCH", f"{SETS}/one", MANAGED, "merge-patch+json", {"spec": {"replicas": 3}},
    ),
    (
        "JSON patch of a subresource",
        lambda c: c.patch(
            PODS, "a", "p", JSON_PATCH, patch_type=PatchType.JSON, subresource="status"
        ),
        "PATCH", "/api/v1/namespaces/a/pods/p/status", MANAGED, "json-patch+json", JSON_PATCH,
    ),
    (
        "delete", lambda c: c.delete(BROKER_SETS, "a", "one", uid="u1"),
        "DELETE", f"{SETS}/one", {}, "json", {**OPTIONS, "preconditions": {"uid": "u1"}},
    ),
    (
        "delete any", lambda c: c.delete(BROKER_SETS, "a", "one"),
        "DELETE", f"{SETS}/one", {}, "json", OPTIONS,
    ),
]  # fmt: skip


@pytest.mark.parametrize(
    ("call", "method", "path", "query", "content", "body"),
    [pytest.param(*row[1:], id=row[0]) for row in CALLS],
)
async def test_requests(
    call: Call, method: str, path: str, query: dict[str, str], content: str, body: Any
) -> None:
    api = HttpApi(Reply(document={"found": 1}))
    async with opened(api) as client:
        assert await call(client) in ({"found": 1}, None)
        assert client.has_answered
    (received,) = api.received
    assert (received.method, received.path, received.query) == (method, path, query)
    assert received.headers["Content-Type"] == f"application/{content}"
    assert received.body == body


@pytest.mark.parametrize(
    ("name", "is_sent_again"),
    [
        ("get", True),
        ("create", False),
        ("apply", True),
        ("apply status", True),
        ("replace", False),
        ("merge patch", True),
        ("JSON patch of a subresource", False),
        ("delete", False),
    ],
)
async def test_which_requests_are_sent_again_when_their_outcome_is_unknown(
    name: str, is_sent_again: bool
) -> None:
    call = {row[0]: row[1] for row in CALLS}[name]
    api = HttpApi(Reply(status=500, document={}), Reply(document={}))
    async with opened(api) as client:
        if is_sent_again:
            await call(client)
        else:
            with pytest.raises(ApiUnavailable):
                await call(client)
    assert len(api.received) == 1 + is_sent_again


async def test_a_conditional_merge_patch_is_not_sent_again() -> None:
    api = HttpApi(Reply(status=500, document={}))
    async with opened(api) as client:
        with pytest.raises(ApiUnavailable):
            await client.patch(PODS, "a", "p", {"metadata": {"resourceVersion": "1"}})


async def test_refusals_are_errors() -> None:
    api = HttpApi(Reply(status=409, document={"reason": "Conflict", "message": "changed"}))
    async with opened(api) as client:
        with pytest.raises(Conflict, match="changed"):
            await client.replace(LEASES, "a", "x", {"metadata": {"resourceVersion": "1"}})


def page(*names: str, next_page: str = "") -> Reply:
    items = [{"metadata": {"name": name}} for name in names]
    return Reply(
        document={"metadata": {"resourceVersion": "9", "continue": next_page}, "items": items}
    )


async def test_a_list_is_read_page_by_page() -> None:
    api = HttpApi(page("p0", "p1", next_page="more"), page("p2"))
    async with opened(api) as client:
        documents = await client.list(PODS, None, labels="a=b", fields="spec.nodeName=n")
    assert [document["metadata"]["name"] for document in documents] == ["p0", "p1", "p2"]
    assert {document["kind"] for document in documents} == {"Pod"}
    query = {"labelSelector": "a=b", "fieldSelector": "spec.nodeName=n", "limit": "500"}
    assert [received.query for received in api.received] == [query, {**query, "continue": "more"}]
    assert api.received[0].path == "/api/v1/pods"


async def test_a_list_starts_over_when_its_next_page_has_expired() -> None:
    expired = Reply(status=410, document={"reason": "Expired"})
    api = HttpApi(page("old", next_page="more"), expired, page("new"))
    async with opened(api) as client:
        documents = await client.list(PODS, "a")
    assert [document["metadata"]["name"] for document in documents] == ["new"]
    api = HttpApi(*[expired] * 3)
    async with opened(api) as client:
        with pytest.raises(Expired):
            await client.list(PODS, "a")


async def test_a_watch() -> None:
    event = b'{"type": "ADDED", "object": {"metadata": {"name": "p1", "resourceVersion": "10"}}}\n'
    api = HttpApi(page("p0"), Reply(lines=[event]))
    events = []
    async with opened(api) as client:
        async for change in client.watch(PODS, "a", labels="x", is_metadata_only=True):
            events.append((change.type.value, change.document.get("metadata", {}).get("name")))
            if len(events) == 3:
                break
    assert events == [("Listed", "p0"), ("Synced", None), ("Added", "p1")]
    assert api.received[1].query["resourceVersion"] == "9"
    assert "PartialObjectMetadata;" in api.received[1].headers["Accept"]
