"""ConfigMaps through the API server, with the pod's service account: plain HTTPS.

The token is read for each request, since it is renewed in its file while the job runs. What may
pass is asked again, a few times.
"""

import http.client
import json
import ssl
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any
from urllib.parse import urlencode, urlsplit

from ballast.spark.errors import ApiRefused
from ballast.spark.ports import Document

ACCOUNT = Path("/var/run/secrets/kubernetes.io/serviceaccount")
MAX_ANSWER_BYTES = 4 * 1024 * 1024
_PAGE = 500
_METADATA_ONLY = "application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io"
_TRIES = 5
_TIMEOUT_SECONDS = 30
_MAX_REASON = 300

Wait = Callable[[float], None]


class ApiConfigMaps:
    """The ConfigMaps of a namespace."""

    def __init__(self, server: str, namespace: str, account: Path, wait: Wait) -> None:
        """``server`` is a URL; ``wait`` waits seconds between two tries."""
        self._address = urlsplit(server)
        self._path = f"/api/v1/namespaces/{namespace}/configmaps"
        self._account = account
        self._wait = wait

    def find(self, selector: Mapping[str, str]) -> Iterator[Document]:
        """Yield the metadata of those with these labels. Raises `ApiRefused`."""
        labels = ",".join(f"{name}={value}" for name, value in selector.items())
        query = {"labelSelector": labels, "limit": str(_PAGE)}
        while True:
            status, answer = self._ask(
                "GET", f"{self._path}?{urlencode(query)}", accept=_METADATA_ONLY
            )
            if status != 200:
                raise _refused("list ConfigMaps", status, answer)
            yield from answer.get("items") or ()
            following = (answer.get("metadata") or {}).get("continue")
            if not following:
                return
            query["continue"] = following

    def get(self, name: str) -> Document | None:
        """Return one; None = there is none. Raises `ApiRefused`."""
        status, answer = self._ask("GET", f"{self._path}/{name}")
        if status == 404:
            return None
        if status != 200:
            raise _refused(f"read ConfigMap {name}", status, answer)
        return dict(answer)

    def create(self, document: Document) -> bool:
        """Create one; False = there is one of that name already. Raises `ApiRefused`."""
        status, answer = self._ask("POST", self._path, json.dumps(document).encode())
        if status == 409:
            return False
        if status not in (200, 201):
            raise _refused(f"create ConfigMap {document['metadata']['name']}", status, answer)
        return True

    def _ask(
        self, method: str, path: str, body: bytes | None = None, *, accept: str = "application/json"
    ) -> tuple[int, Any]:
        reason = ""
        for number in range(_TRIES):
            if number:
                self._wait(2.0 ** (number - 1))
            try:
                status, answer = self._once(method, path, body, accept)
            except (OSError, http.client.HTTPException) as error:
                reason = str(error) or type(error).__name__
                continue
            if status != 429 and status < 500:
                return status, answer
            reason = f"{status} {answer}"[:_MAX_REASON]
        raise ApiRefused(f"the API server does not answer {method} {path}: {reason}")

    def _once(self, method: str, path: str, body: bytes | None, accept: str) -> tuple[int, Any]:
        connection = self._connection()
        try:
            token = (self._account / "token").read_text().strip()
            headers = {"Authorization": f"Bearer {token}", "Accept": accept}
            if body is not None:
                headers["Content-Type"] = "application/json"
            connection.request(method, path, body=body, headers=headers)
            answer = connection.getresponse()
            data = answer.read(MAX_ANSWER_BYTES + 1)
        finally:
            connection.close()
        if len(data) > MAX_ANSWER_BYTES:
            raise ApiRefused(f"the answer to {method} {path} is over {MAX_ANSWER_BYTES} bytes")
        try:
            return answer.status, json.loads(data)
        except ValueError:
            return answer.status, {"message": data[:_MAX_REASON].decode(errors="replace")}

    def _connection(self) -> http.client.HTTPConnection:
        host, port = self._address.hostname or "", self._address.port
        if self._address.scheme == "http":
            return http.client.HTTPConnection(host, port, timeout=_TIMEOUT_SECONDS)
        trusted = ssl.create_default_context(cafile=str(self._account / "ca.crt"))
        return http.client.HTTPSConnection(host, port, timeout=_TIMEOUT_SECONDS, context=trusted)


def _refused(what: str, status: int, answer: Any) -> ApiRefused:
    message = answer.get("message") if isinstance(answer, dict) else None
    return ApiRefused(f"cannot {what}: {status} {str(message)[:_MAX_REASON]}")
