"""The examples pass the schemas, and say the same to the command line."""

import re
from collections.abc import Iterator
from typing import Any

import pytest
import yaml

from ballast.reassign.spec.manifest import parse_manifest
from tests.unit.crds.schemas import (
    BROKER_SETS,
    CRDS,
    KINDS,
    REASSIGNMENTS,
    complaints,
    schema_of,
    walk,
)

EXAMPLES = sorted((CRDS / "examples").glob("*.yaml"))
INVALID = CRDS.parent / "tests" / "e2e" / "invalid"
PLURALS = {"BrokerSet": BROKER_SETS, "PartitionReassignment": REASSIGNMENTS}


def documents() -> Iterator[Any]:
    for path in EXAMPLES:
        for document in yaml.safe_load_all(path.read_text()):
            yield pytest.param(document, id=f"{path.stem}-{document['kind']}")


@pytest.mark.parametrize("document", list(documents()))
def test_an_example_passes_the_schema(document: dict[str, Any]) -> None:
    if document["kind"] == "ConfigMap":
        return
    schema = schema_of(PLURALS[document["kind"]])
    assert list(complaints(document, schema)) == []
    if document["kind"] == "PartitionReassignment":
        assert parse_manifest(document).name == document["metadata"]["name"]


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_an_example_begins_with_what_it_does(path: Any) -> None:
    lines = path.read_text().splitlines()
    assert lines[0].startswith("# ")
    assert any(f"-f crds/examples/{path.name}" in line for line in lines), "how to use it"
    assert max(map(len, lines)) <= 104


@pytest.mark.parametrize("path", sorted(INVALID.glob("**/*.yaml")), ids=lambda path: path.stem)
def test_what_shall_be_refused_says_how(path: Any) -> None:
    first, *rest = path.read_text().splitlines()
    assert first.startswith("# expect: ")
    if path.parent.name == "operator":
        assert re.match(r"# expect: (Accepted|Ready)=False [A-Z][A-Za-z]+$", first)
    assert any(line.startswith("kind: ") for line in rest)


def test_hostile_manifests_are_many() -> None:
    assert len(list(INVALID.glob("hostile-*.yaml"))) >= 20


def expectations() -> list[str]:
    """Return the first lines of all manifests that the API server refuses, without indexes."""
    lines = [path.read_text().splitlines()[0] for path in INVALID.glob("*.yaml")]
    return [re.sub(r"\[\d+\]", "[]", line.removeprefix("# expect: ")) for line in lines]


@pytest.mark.parametrize("plural", KINDS)
def test_every_rule_refuses_some_manifest(plural: str) -> None:
    """Rules about changes have their table in tests/e2e/test_crds.py."""
    expected = expectations()
    for path, schema in walk(schema_of(plural)):
        for rule in schema.get("x-kubernetes-validations", ()):
            message = rule["message"]
            is_shown = any(words in message or message in words for words in expected)
            assert is_shown or "oldSelf" in rule["rule"], f"{path}: {message}"


@pytest.mark.parametrize("plural", KINDS)
def test_every_bound_refuses_some_manifest(plural: str) -> None:
    """Those of affinities, selectors and probes are Kubernetes' own.

    A drain is executed as any reassignment.
    """
    named = {words.partition(": ")[0] for words in expectations()}
    for path, schema in walk(schema_of(plural, "spec"), "spec"):
        is_bounded = {"enum", "pattern", "minLength", "minItems", "minimum"} & set(schema)
        if is_bounded and not re.search(
            r"affinity|Selector|\.probes\.|\.reassignment\.|\{\}", path
        ):
            assert path in named, path
