"""The API server's paths."""

import pytest

from ballast.kube.api.paths import path_of
from ballast.kube.api.resources import BROKER_SETS, NODES, PODS, Resource


@pytest.mark.parametrize(
    ("resource", "namespace", "name", "subresource", "path"),
    [
        (PODS, "a", "p-0", "", "/api/v1/namespaces/a/pods/p-0"),
        (PODS, None, "", "", "/api/v1/pods"),
        (NODES, None, "n1", "", "/api/v1/nodes/n1"),
        (
            BROKER_SETS, "a", "prod", "status",
            "/apis/ballast.dev/v1alpha1/namespaces/a/brokersets/prod/status",
        ),
        (PODS, "a", "../../b?x", "", "/api/v1/namespaces/a/pods/..%2F..%2Fb%3Fx"),
    ],
)  # fmt: skip
def test_paths(
    resource: Resource, namespace: str | None, name: str, subresource: str, path: str
) -> None:
    assert path_of(resource, namespace, name, subresource) == path
