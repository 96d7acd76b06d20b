import pytest

from ballast.brokersets import names


def test_the_objects_of_a_set() -> None:
    assert names.stateful_set("prod") == "prod-broker"
    assert names.pod("prod", 2) == "prod-broker-2"
    assert names.volume_claim("prod", 2) == "data-prod-broker-2"
    assert names.brokers_service("prod") == "prod-brokers"
    assert names.bootstrap_service("prod") == "prod-bootstrap"
    assert names.config_map("prod") == "prod-config"
    assert names.racks_map("prod") == "prod-racks"


@pytest.mark.parametrize(
    ("broker_ids", "taken", "name"),
    [
        pytest.param([3], [], "prod-drain-3", id="one"),
        pytest.param([5, 3], [], "prod-drain-3-5", id="sorted"),
        pytest.param(range(9), [], "prod-drain-0-1-2-3-and-5", id="many"),
        pytest.param([3], ["prod-drain-3"], "prod-drain-3-try-2", id="again"),
        pytest.param([3], ["prod-drain-3", "prod-drain-3-try-2"], "prod-drain-3-try-3", id="third"),
    ],
)
def test_a_free_name_for_a_reassignment(broker_ids: list[int], taken: list[str], name: str) -> None:
    assert names.reassignment("prod", "drain", broker_ids, taken) == name


@pytest.mark.parametrize("purpose", ["drain", "rebalance"])
def test_the_longest_name_fits_a_labels_value(purpose: str) -> None:
    many, few = range(1_000_000, 1_001_000), range(1_000_000, 1_000_002)
    first = names.reassignment("p" * 40, purpose, many, [])
    taken = [first, *(f"{first}-try-{n}" for n in range(2, 999))]
    last = names.reassignment("p" * 40, purpose, many, taken)
    assert (len(last), last[-8:]) == (62, "-try-999")
    assert names.reassignment("p" * 40, purpose, few, []) != first, "other brokers, another name"
    assert names.reassignment("p" * 39 + "q", purpose, many, []) != first, "so has another set"


def test_the_selector_says_the_same_as_its_labels() -> None:
    labels = names.selector_labels("prod")
    assert names.selector("prod") == ",".join(f"{k}={v}" for k, v in labels.items())
    assert labels.items() < names.labels("prod").items()
    assert names.labels("prod", {"x": "y"})["x"] == "y"
