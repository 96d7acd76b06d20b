"""Lists in pages, and watches that never end."""

import json
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import pytest

from ballast.kube.api.errors import ApiUnavailable, Forbidden, KubernetesError
from ballast.kube.api.ports import ChangeType
from ballast.kube.api.requests import Request
from ballast.kube.api.resources import PODS
from ballast.kube.api.responses import Response
from ballast.kube.api.watch import RETRY_DELAYS_S, Watch
from tests.fakes.clocks import YieldingClock


class ScriptEnded(Exception):
    """The script is over."""


def pod(name: str, version: str) -> dict[str, Any]:
    return {"metadata": {"name": name, "resourceVersion": version}}


def page(*items: dict[str, Any], version: str = "10", next_page: str = "") -> Response:
    body = {"metadata": {"resourceVersion": version, "continue": next_page}, "items": items}
    return Response(status=200, body=json.dumps(body).encode())


def event(kind: str, document: dict[str, Any]) -> bytes:
    return json.dumps({"type": kind, "object": document}).encode()


@dataclass
class ScriptedServer:
    """Answers lists and streams in the order given; an error ends a stream, or is the answer."""

    lists: list[Response]
    streams: list[Sequence[bytes | KubernetesError]]
    queries: list[dict[str, str]] = field(default_factory=list)
    accepted: list[str] = field(default_factory=list)

    async def exchange(self, request: Request) -> Response:
        self._note(request)
        return self.lists.pop(0)

    async def lines(self, request: Request) -> AsyncIterator[bytes]:
        self._note(request)
        if not self.streams:
            raise ScriptEnded
        for line in self.streams.pop(0):
            if isinstance(line, KubernetesError):
                raise line
            yield line

    async def renew_credentials(self) -> None:
        raise AssertionError("nothing is refused")

    def _note(self, request: Request) -> None:
        self.queries.append(dict(request.query))
        self.accepted.append(request.accept)


async def events_of(server: ScriptedServer, clock: YieldingClock, **settings: Any) -> list[str]:
    """Return the events of a watch until the script is over."""
    watch = Watch(
        **{
            "resource": PODS,
            "namespace": "a",
            "labels": None,
            "is_metadata_only": False,
            **settings,
        }
    )
    events = []
    try:
        async for change in watch.changes(server, clock):
            name = change.document["metadata"]["name"] if change.document else ""
            assert change.type is ChangeType.SYNCED or change.document["kind"] == "Pod"
            events.append(f"{change.type.value} {name}".strip())
    except ScriptEnded:
        return events
    raise AssertionError("a watch never ends by itself")


async def test_listed_objects_then_changes() -> None:
    first = page(pod("p0", "1"), next_page="next")
    second = page(pod("p1", "2"), version="9")
    stream = [
        event("ADDED", pod("p2", "11")),
        event("BOOKMARK", pod("", "15")),
        event("MODIFIED", pod("p0", "16")),
        event("DELETED", pod("p1", "17")),
    ]
    server = ScriptedServer([first, second], [stream])
    assert await events_of(server, YieldingClock()) == [
        "Listed p0", "Listed p1", "Synced", "Added p2", "Modified p0", "Deleted p1",
    ]  # fmt: skip
    assert [query.get("continue") for query in server.queries[:2]] == [None, "next"]
    # A stream that has ended goes on where it was, bookmarks included.
    assert [query["resourceVersion"] for query in server.queries[2:]] == ["9", "17"]


async def test_bookmarks_count() -> None:
    server = ScriptedServer([page()], [[event("BOOKMARK", pod("", "15"))], []])
    assert await events_of(server, YieldingClock()) == ["Synced"]
    assert [query["resourceVersion"] for query in server.queries[1:]] == ["10", "15", "15"]


@pytest.mark.parametrize(
    "stream",
    [
        pytest.param([event("ERROR", {"code": 410, "reason": "Expired"})], id="by an event"),
        pytest.param([Forbidden("not any more", status=403)], id="refused"),
    ],
)
async def test_a_watch_lists_again(stream: Sequence[bytes | KubernetesError]) -> None:
    server = ScriptedServer([page(pod("p0", "1")), page(pod("p0", "1"), version="20")], [stream])
    assert await events_of(server, YieldingClock()) == [
        "Listed p0",
        "Synced",
        "Listed p0",
        "Synced",
    ]
    assert server.queries[-1]["resourceVersion"] == "20"


async def test_a_broken_stream_resumes_after_a_growing_delay() -> None:
    broken = [ApiUnavailable("reset")]
    clock = YieldingClock()
    good = [event("ADDED", pod("p9", "30"))]
    server = ScriptedServer([page()], [*[broken] * 8, good, broken])
    assert await events_of(server, clock) == ["Synced", "Added p9"]
    expected = [
        *RETRY_DELAYS_S,
        RETRY_DELAYS_S[-1],
        RETRY_DELAYS_S[-1],
        RETRY_DELAYS_S[0],
        RETRY_DELAYS_S[0],
    ]
    assert clock.slept == expected
    assert server.queries[-1]["resourceVersion"] == "30"


@pytest.mark.parametrize(
    ("error", "attempts"),
    [
        (Forbidden("may not watch", status=403), 1),
        (ApiUnavailable("gone"), len(RETRY_DELAYS_S)),
    ],
)
async def test_when_a_failing_watch_is_logged(
    error: KubernetesError, attempts: int, caplog: pytest.LogCaptureFixture
) -> None:
    for count in (attempts - 1, attempts, attempts + 3):
        caplog.clear()
        server = ScriptedServer([page() for _ in range(count + 1)], [[error]] * count)
        await events_of(server, YieldingClock())
        messages = [record.getMessage() for record in caplog.records]
        assert messages == ([f"watching pods fails: {error}"] if count >= attempts else [])


async def test_each_missing_right_is_logged_once(caplog: pytest.LogCaptureFixture) -> None:
    refusal = {"reason": "Forbidden", "message": "may not list"}
    may_not_list = Response(status=403, body=json.dumps(refusal).encode())
    may_not_watch = Forbidden("may not watch", status=403)
    good = [event("ADDED", pod("p9", "30"))]
    server = ScriptedServer(
        [may_not_list, may_not_list, page(), page(), page(), page()],
        [[may_not_watch], [may_not_watch], good, [may_not_watch]],
    )
    await events_of(server, YieldingClock())
    assert [record.getMessage() for record in caplog.records] == [
        "watching pods fails: may not list",
        "watching pods fails: may not watch",
        "watching pods fails: may not watch",
    ]


async def test_selectors_and_metadata_only() -> None:
    server = ScriptedServer([page()], [])
    await events_of(server, YieldingClock(), labels="a=b", is_metadata_only=True)
    assert [query["labelSelector"] for query in server.queries] == ["a=b", "a=b"]
    assert [accepted.split(";")[1] for accepted in server.accepted] == [
        "as=PartialObjectMetadataList",
        "as=PartialObjectMetadata",
    ]
