"""ConfigMaps through the API server, with the pod's service account, by the `kubernetes` package.

The package reads the token again every minute, because the kubelet replaces its file while the job
runs. A request that fails for a reason that may pass is sent again a few times, creations as well:
`create` reports an object that exists already, and its caller compares the content.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from kubernetes.client import ApiClient, Configuration
from kubernetes.client.exceptions import ApiException
from kubernetes.config import ConfigException, load_incluster_config
from urllib3 import Retry
from urllib3.exceptions import HTTPError

from ballast.spark.errors import ApiRefused
from ballast.spark.ports import Document

MAX_RESPONSE_BYTES: Final = 4 * 1024 * 1024
ATTEMPTS: Final = 5
BACKOFF_S: Final = 1.0
_MAX_RETRY_AFTER_S: Final = 10
_RETRIED_STATUSES: Final = (429, 500, 502, 503, 504)
_PAGE_SIZE: Final = 500
_JSON: Final = "application/json"
_METADATA_ONLY: Final = "application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io"
_TIMEOUT_S: Final = 30
_MAX_REASON: Final = 300


class ApiConfigMaps:
    """The ConfigMaps of one namespace: implements `ballast.spark.ports.ConfigMaps`."""

    def __init__(
        self, configuration: Configuration, namespace: str, *, backoff_s: float = BACKOFF_S
    ) -> None:
        configuration.retries = Retry(
            total=ATTEMPTS - 1,
            backoff_factor=backoff_s,
            status_forcelist=_RETRIED_STATUSES,
            allowed_methods=None,
            raise_on_status=False,
            retry_after_max=_MAX_RETRY_AFTER_S,
        )
        self._client = ApiClient(configuration)
        self._path = f"/api/v1/namespaces/{namespace}/configmaps"

    @classmethod
    def in_pod(cls, namespace: str) -> "ApiConfigMaps":
        """Return the ConfigMaps as the pod's service account; raises `ApiRefused` without one."""
        configuration = Configuration()
        try:
            load_incluster_config(client_configuration=configuration)
        except (ConfigException, OSError) as error:
            raise ApiRefused(f"cannot use the pod's service account: {error}") from error
        return cls(configuration, namespace)

    def find(self, selector: Mapping[str, str]) -> Iterator[Document]:
        """Yield the metadata of those with these labels, page by page. Raises `ApiRefused`."""
        labels = ",".join(f"{name}={value}" for name, value in selector.items())
        query = {"labelSelector": labels, "limit": str(_PAGE_SIZE)}
        while True:
            status, page = self._send("GET", self._path, query=query, accept=_METADATA_ONLY)
            if status != 200:
                raise _refused("list ConfigMaps", status, page)
            yield from page.get("items") or ()
            next_page = (page.get("metadata") or {}).get("continue")
            if not next_page:
                return
            query["continue"] = next_page

    def get(self, name: str) -> Document | None:
        """Return one; None if there is none. Raises `ApiRefused`."""
        status, document = self._send("GET", f"{self._path}/{name}")
        if status == 404:
            return None
        if status != 200:
            raise _refused(f"read ConfigMap {name}", status, document)
        return dict(document)

    def create(self, document: Document) -> bool:
        """Create one; False if one of that name exists. Raises `ApiRefused`."""
        status, response = self._send("POST", self._path, body=dict(document))
        if status == 409:
            return False
        if status not in (200, 201):
            raise _refused(f"create ConfigMap {document['metadata']['name']}", status, response)
        return True

    def _send(
        self,
        method: str,
        path: str,
        *,
        query: Mapping[str, str] | None = None,
        body: Any = None,
        accept: str = _JSON,
    ) -> tuple[int, Any]:
        """Return the status and the JSON of the response; raises `ApiRefused` without one."""
        parameters: Sequence[tuple[str, str]] = list((query or {}).items())
        try:
            serialized = self._client.param_serialize(
                method,
                path,
                query_params=parameters,
                header_params={"Accept": accept, "Content-Type": _JSON},
                body=body,
                auth_settings=["BearerToken"],
            )
            response = self._client.call_api(*serialized, _request_timeout=_TIMEOUT_S).response
            data = response.read(MAX_RESPONSE_BYTES + 1)
            response.release_conn()
        except (ApiException, ConfigException, HTTPError, OSError) as error:
            raise ApiRefused(f"no response to {method} {path}: {error}"[:_MAX_REASON]) from error
        if len(data) > MAX_RESPONSE_BYTES:
            raise ApiRefused(f"the response to {method} {path} exceeds {MAX_RESPONSE_BYTES} bytes")
        try:
            return response.status, json.loads(data)
        except ValueError:
            return response.status, {"message": data[:_MAX_REASON].decode(errors="replace")}


def _refused(action: str, status: int, response: Any) -> ApiRefused:
    message = response.get("message") if isinstance(response, dict) else None
    return ApiRefused(f"cannot {action}: {status} {str(message)[:_MAX_REASON]}")
