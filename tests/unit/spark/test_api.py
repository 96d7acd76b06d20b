import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import Any

import pytest
from kubernetes.client import Configuration

from ballast.spark.api import ATTEMPTS, ApiConfigMaps
from ballast.spark.errors import ApiRefused

Answers = list[tuple[int, Any]]


class Api(BaseHTTPRequestHandler):
    """Answers from a list; the last one again and again."""

    answers: Answers
    received: list[tuple[str, str, dict[str, str], Any]]

    def handle_one(self) -> None:
        length = int(self.headers.get("Content-Length") or 0)
        body = json.loads(self.rfile.read(length)) if length else None
        self.received.append((self.command, self.path, dict(self.headers), body))
        status, answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        data = answer if isinstance(answer, bytes) else json.dumps(answer).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    do_GET = do_POST = handle_one  # noqa: N815 - the names that are looked for

    def log_message(self, *_: object) -> None:
        pass


class Served:
    """A server and a client of it."""

    def __init__(self) -> None:
        self._answers: Answers = []
        self.received: list[tuple[str, str, dict[str, str], Any]] = []
        content = {"answers": self._answers, "received": self.received}
        self.server = HTTPServer(("127.0.0.1", 0), type("Handler", (Api,), content))
        self.configuration = Configuration(
            host=f"http://127.0.0.1:{self.server.server_port}",
            api_key={"BearerToken": "Bearer secret"},
        )
        self.maps = ApiConfigMaps(self.configuration, "prod", backoff_s=0.0)

    def answers(self, *answers: tuple[int, Any]) -> None:
        self._answers[:] = answers


@pytest.fixture
def served() -> Iterator[Served]:
    served = Served()
    thread = threading.Thread(target=served.server.serve_forever, args=(0.01,))
    thread.start()
    yield served
    served.server.shutdown()
    thread.join()
    served.server.server_close()


def test_one_is_read_with_the_token_of_the_account(served: Served) -> None:
    served.answers((200, {"metadata": {"name": "a"}}))
    assert served.maps.get("a") == {"metadata": {"name": "a"}}
    method, path, headers, _ = served.received[0]
    assert (method, path) == ("GET", "/api/v1/namespaces/prod/configmaps/a")
    assert headers["authorization"] == "Bearer secret"


def test_one_that_is_not_there(served: Served) -> None:
    served.answers((404, {"message": "not found"}))
    assert served.maps.get("a") is None


def test_a_list_is_read_page_by_page_and_only_its_metadata(served: Served) -> None:
    served.answers(
        (200, {"metadata": {"continue": "k"}, "items": [{"metadata": {"name": "a"}}]}),
        (200, {"metadata": {}, "items": [{"metadata": {"name": "b"}}]}),
    )
    found = served.maps.find({"x": "1", "y": "2"})
    assert [one["metadata"]["name"] for one in found] == ["a", "b"]
    paths = [path for _, path, _, _ in served.received]
    assert "labelSelector=x%3D1%2Cy%3D2" in paths[0]
    assert "continue=k" in paths[1]
    assert "PartialObjectMetadataList" in served.received[0][2]["Accept"]


@pytest.mark.parametrize(("status", "created"), [(201, True), (409, False)])
def test_one_is_created_once(served: Served, status: int, created: bool) -> None:
    served.answers((status, {}))
    assert served.maps.create({"metadata": {"name": "a"}, "data": {"k": "v"}}) is created
    assert served.received[0][3] == {"metadata": {"name": "a"}, "data": {"k": "v"}}


@pytest.mark.parametrize("status", [429, 500, 503])
def test_a_failure_that_may_pass_is_retried(served: Served, status: int) -> None:
    served.answers((status, b"busy"), (status, {}), (200, {"metadata": {}}))
    assert served.maps.get("a") == {"metadata": {}}
    served.answers((status, b"busy"), (409, {}))
    assert served.maps.create({"metadata": {"name": "a"}}) is False


def test_attempts_are_bounded(served: Served) -> None:
    served.answers((500, {"message": "no"}))
    with pytest.raises(ApiRefused, match="read ConfigMap a: 500 no"):
        served.maps.get("a")
    assert len(served.received) == ATTEMPTS


def test_an_api_server_that_is_not_there() -> None:
    maps = ApiConfigMaps(Configuration(host="http://127.0.0.1:1"), "prod", backoff_s=0.0)
    with pytest.raises(ApiRefused, match="cannot read ConfigMap a"):
        maps.get("a")


def test_without_a_service_account(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("KUBERNETES_SERVICE_HOST", raising=False)
    with pytest.raises(ApiRefused, match="service account"):
        ApiConfigMaps.in_pod("prod")


def test_a_refusal_says_why(served: Served) -> None:
    served.answers((403, {"message": "configmaps is forbidden"}))
    with pytest.raises(ApiRefused, match="create ConfigMap a: 403 configmaps is forbidden"):
        served.maps.create({"metadata": {"name": "a"}})
    with pytest.raises(ApiRefused, match="list ConfigMaps: 403"):
        list(served.maps.find({"x": "1"}))
    with pytest.raises(ApiRefused, match="read ConfigMap a: 403"):
        served.maps.get("a")
