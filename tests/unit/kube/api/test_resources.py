"""How kinds and objects are named."""

from ballast.kube.api.resources import BROKER_SETS, PODS, ObjectKey


def test_api_versions() -> None:
    assert BROKER_SETS.api_version == "ballast.dev/v1alpha1"
    assert PODS.api_version == "v1"


def test_keys_say_what_they_name() -> None:
    assert str(ObjectKey("brokersets", "a", "one")) == "brokersets/a/one"
    assert ObjectKey("pods", "a", "one") != ObjectKey("brokersets", "a", "one")
