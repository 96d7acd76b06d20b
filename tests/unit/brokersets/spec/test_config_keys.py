import re
from pathlib import Path

import pytest

from ballast.broker.config.config import PROPERTIES
from ballast.brokersets.spec.config_keys import (
    ALLOWED_PREFIX,
    DYNAMIC,
    FORBIDDEN,
    FORBIDDEN_PREFIXES,
    UNSERVED,
    UNSERVED_PREFIXES,
    is_forbidden,
    is_unserved,
    refusal,
    without_effect,
)
from ballast.model.settings.keys import Support
from ballast.model.settings.table import BROKER_SETTINGS

SCHEMA = Path(__file__).parents[4] / "crds" / "brokersets.yaml"


def test_what_goes_without_a_restart_is_what_the_broker_says() -> None:
    dynamic = {name for name, row in PROPERTIES.items() if row.dynamic}
    assert {name for name in dynamic if not is_forbidden(name)} == DYNAMIC


@pytest.mark.parametrize(
    ("name", "text", "reason"),
    [
        ("num.partitions", "3", None),
        ("num.partitions", "many", "is not a legal value: Not a number of type INT"),
        ("log.segment.bytes", "13", "is not a legal value: Value must be at least 14"),
        ("zookeeper.set.acl", "true", "is not honoured: Znodes are made without access control"),
        ("metric.reporters", "a.B", "is not honoured: No classes are loaded"),
        ("mispelt", "1", None),
    ],
)
def test_a_value_is_refused_when_the_broker_would_not_start(
    name: str, text: str, reason: str | None
) -> None:
    found = refusal(name, text)
    assert found is None if reason is None else str(found).startswith(reason)


def test_what_has_no_effect_is_told_with_the_reason() -> None:
    config = {"num.partitions": "3", "a": "9", "b": "1", "num.io.threads": "9"}
    assert list(without_effect(config)) == ["a", "b"]


BY_VALUE = {
    "inter.broker.protocol.version",
    "replica.selector.class",
    "metric.reporters",
    "kafka.metrics.reporters",
}
"""Some values of these are taken, or mean nothing of security: the operator says what is wrong."""


def test_what_a_broker_would_not_start_with_is_refused_by_name() -> None:
    refused = {name for name, row in BROKER_SETTINGS.items() if row.support is Support.REFUSED}
    unnamed = {name for name in refused if not is_forbidden(name) and not is_unserved(name)}
    assert all(name in BY_VALUE or name.startswith("log.") for name in unnamed)


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
    lists = re.findall(r"name in \[([^\]]*)\]", SCHEMA.read_text())
    assert [set(re.findall(r"'([^']+)'", names)) for names in lists] == [FORBIDDEN, UNSERVED]
    prefixes = re.findall(r"name\.startsWith\('([^']+)'\)", SCHEMA.read_text())
    assert set(prefixes) == {*FORBIDDEN_PREFIXES, ALLOWED_PREFIX, *UNSERVED_PREFIXES}
