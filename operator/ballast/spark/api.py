"""ConfigMaps through the API server, as the pod's service account, by the `kubernetes` package.

The package reads the token again every minute, because the kubelet replaces its file while the job
runs. A request that fails for a reason that may pass is sent again a few times, creations as well:
`create` reports an object that exists already, and its caller compares the content.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Final

from kubernetes.client import ApiClient, ApiException, Configuration
from kubernetes.config import ConfigException, load_incluster_config
from kubernetes.dynamic import DynamicClient, Resource
from kubernetes.dynamic.exceptions import ConflictError, DynamicApiError, NotFoundError
from urllib3 import Retry
from urllib3.exceptions import HTTPError

from ballast.spark.errors import ApiRefused
from ballast.spark.ports import Document

ATTEMPTS: Final = 5
BACKOFF_S: Final = 1.0
_MAX_RETRY_AFTER_S: Final = 10
_RETRIED_STATUSES: Final = (429, 500, 502, 503, 504)
_PAGE_SIZE: Final = 500
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
        # Without discovery: the job may read ConfigMaps and nothing else.
        client = DynamicClient(ApiClient(configuration), discoverer=lambda *_: None)
        self._maps = Resource(
            prefix="api",
            api_version="v1",
            kind="ConfigMap",
            name="configmaps",
            namespaced=True,
            client=client,
        )
        self._options = {
            "namespace": namespace,
            "_request_timeout": _TIMEOUT_S,
            "serializer": lambda _, document: document,
        }

    @classmethod
    def in_pod(cls, namespace: str) -> "ApiConfigMaps":
        """Return the ConfigMaps as the pod's service account; raises `ApiRefused` without one."""
        configuration = Configuration()
        with _refusals("use the pod's service account"):
            load_incluster_config(client_configuration=configuration)
        return cls(configuration, namespace)

    def find(self, selector: Mapping[str, str]) -> Iterator[Document]:
        """Yield the metadata of those with these labels, page by page. Raises `ApiRefused`."""
        options: dict[str, Any] = {
            **self._options,
            "label_selector": ",".join(f"{name}={value}" for name, value in selector.items()),
            "limit": _PAGE_SIZE,
        }
        while True:
            with _refusals("list ConfigMaps"):
                header = {"Accept": _METADATA_ONLY}
                page = self._maps.get(header_params=header, **options)
            yield from page.get("items") or ()
            options["_continue"] = (page.get("metadata") or {}).get("continue")
            if not options["_continue"]:
                return

    def get(self, name: str) -> Document | None:
        """Return one; None if there is none. Raises `ApiRefused`."""
        with _refusals(f"read ConfigMap {name}"):
            try:
                return dict(self._maps.get(name=name, **self._options))
            except NotFoundError:
                return None

    def create(self, document: Document) -> bool:
        """Create one; False if one of that name exists. Raises `ApiRefused`."""
        with _refusals(f"create ConfigMap {document['metadata']['name']}"):
            try:
                self._maps.create(body=dict(document), **self._options)
            except ConflictError:
                return False
        return True


@contextmanager
def _refusals(action: str) -> Iterator[None]:
    """Turn every failure to do the action into `ApiRefused`."""
    try:
        yield
    except DynamicApiError as error:
        reason = f"{error.status} {error.summary()}"
        raise ApiRefused(f"cannot {action}: {reason[:_MAX_REASON]}") from error
    except (ApiException, ConfigException, HTTPError, OSError) as error:
        raise ApiRefused(f"cannot {action}: {str(error)[:_MAX_REASON]}") from error
