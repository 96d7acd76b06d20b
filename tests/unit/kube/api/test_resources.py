"""Names and paths of kinds and objects."""

import pytest

from ballast.kube.api.resources import BROKER_SETS, NODES, PODS, ObjectKey, Resource


def test_api_versions() -> None:
    assert BROKER_SETS.api_version == "ballast.dev/v1alpha1"
    assert PODS.api_version == "v1"


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
    assert resource.path(namespace, name, subresource) == path


def test_keys_name_kind_namespace_and_object() -> None:
    assert str(ObjectKey("brokersets", "a", "one")) == "brokersets/a/one"
    assert ObjectKey("pods", "a", "one") != ObjectKey("brokersets", "a", "one")
