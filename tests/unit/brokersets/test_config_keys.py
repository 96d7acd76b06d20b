import re
from pathlib import Path

import pytest

from ballast.broker.config import PROPERTIES
from ballast.brokersets.config_keys import (
    ALLOWED_PREFIX,
    DYNAMIC,
    FORBIDDEN,
    FORBIDDEN_PREFIXES,
    is_forbidden,
)

SCHEMA = Path(__file__).parents[3] / "crds" / "brokersets.yaml"
SAMPLES = ("0", "1", "13", "14", "2147483647", "2147483648", "-1", "", "x", "1_000", "¹", "1.0")


def test_what_goes_without_a_restart_is_what_the_broker_says() -> None:
    dynamic = {name for name, row in PROPERTIES.items() if row.dynamic}
    assert {name for name in dynamic if not is_forbidden(name)} == set(DYNAMIC)


@pytest.mark.parametrize("name", sorted(DYNAMIC))
@pytest.mark.parametrize("text", SAMPLES)
def test_a_value_is_refused_when_the_broker_would_refuse_it(name: str, text: str) -> None:
    try:
        PROPERTIES[name].parse(text)
    except ValueError:
        assert DYNAMIC[name](text) is not None
    else:
        assert DYNAMIC[name](text) is None


@pytest.mark.parametrize(
    ("name", "forbidden"),
    [
        ("broker.id", True),
        ("log.dirs", True),
        ("zookeeper.connect", True),
        ("ballast.http.listener", True),
        ("ballast.load.sample.interval.ms", False),
        ("leader.replication.throttled.rate", True),
        ("min.insync.replicas", False),
        ("log.segment.bytes", False),
        ("num.partitions", False),
    ],
)
def test_what_is_ballasts_own(name: str, forbidden: bool) -> None:
    assert is_forbidden(name) is forbidden


def test_what_the_pod_sets_is_forbidden() -> None:
    from_pod = {"broker.id", "listeners", "advertised.listeners", "log.dirs", "broker.rack"}
    assert from_pod <= FORBIDDEN


def test_the_schema_forbids_the_same() -> None:
    rule = re.search(r"name in \[([^\]]*)\]", SCHEMA.read_text())
    assert rule is not None
    assert set(re.findall(r"'([^']+)'", rule[1])) == FORBIDDEN
    prefixes = re.findall(r"name\.startsWith\('([^']+)'\)", SCHEMA.read_text())
    assert set(prefixes) == {*FORBIDDEN_PREFIXES, ALLOWED_PREFIX}
