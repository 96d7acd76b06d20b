"""The operator's options."""

from ballast.kube.runtime.options import OperatorOptions


def test_namespaces() -> None:
    options = OperatorOptions(
        pod_name="p", pod_namespace="ops", pod_ip="10.0.0.1", broker_image="ballast:dev"
    )
    assert options.watched_namespaces == (None,)
    some = OperatorOptions(
        pod_name="p",
        pod_namespace="ops",
        pod_ip="10.0.0.1",
        broker_image="ballast:dev",
        namespaces=("a", "b"),
    )
    assert some.watched_namespaces == ("a", "b")
