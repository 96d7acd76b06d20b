"""What holds of both schemas: all is said, all is bounded, nothing is pruned by surprise."""

import re
from typing import Any

import pytest

from ballast.kube.api.resources import BROKER_SETS, PARTITION_REASSIGNMENTS, Resource
from tests.unit.crds.schemas import (
    KINDS,
    REASSIGNMENTS,
    Schema,
    complaints,
    definition,
    schema_of,
    version_of,
    walk,
    with_defaults,
)

_CAMEL_CASE = re.compile(r"[a-z][a-zA-Z]*")
_OTHERS_NAMES = {"ephemeral-storage"}

each_kind = pytest.mark.parametrize("plural", KINDS)


@each_kind
def test_every_field_is_described(plural: str) -> None:
    for path, schema in walk(schema_of(plural)):
        if path == ".metadata":  # of which Kubernetes takes bounds of the name and nothing else
            continue
        description = schema["description"]
        assert description.endswith("."), path
        assert description[0].isupper() or description.startswith("host:port"), path
        assert len(description) > 5, path


@each_kind
def test_everything_has_a_bound(plural: str) -> None:
    """Otherwise a CEL rule over it could cost too much, and an object could grow without end."""
    unbounded = [path for path, schema in walk(schema_of(plural)) if not _is_bounded(schema)]
    assert unbounded == []


def _is_bounded(schema: Schema) -> bool:
    if schema.get("x-kubernetes-int-or-string"):
        return 0 < int(schema.get("maxLength", 0)) <= 64
    match schema["type"]:
        case "string":
            return 0 < int(schema.get("maxLength", 0)) <= 32768
        case "array":
            return 0 < int(schema.get("maxItems", 0)) <= 1000
        case "object":
            return "properties" in schema or 0 < int(schema.get("maxProperties", 0)) <= 64
        case "integer":
            return schema["format"] in {"int32", "int64"} and int(schema["minimum"]) >= 0
        case kind:
            return str(kind) == "boolean"


@each_kind
def test_numbers_that_users_write_fit_32_bits(plural: str) -> None:
    for path, schema in walk(schema_of(plural, "spec"), "spec"):
        if schema.get("type") == "integer":
            assert schema["maximum"] <= 2**31 - 1, path


POD_FIELDS = (
    "securityContext",
    "containerSecurityContext",
    "env[]",
    "volumes[]",
    "volumeMounts[]",
    "sidecars[]",
)
"""Of a pod template: Kubernetes' own types, which it checks itself when the pods are applied."""


@each_kind
def test_nothing_unknown_is_kept(plural: str) -> None:
    for path, schema in walk(schema_of(plural)):
        if ".template.pod." in path and path.endswith(POD_FIELDS):
            continue
        assert "x-kubernetes-preserve-unknown-fields" not in schema, path
        assert "x-kubernetes-embedded-resource" not in schema, path
        assert isinstance(schema.get("additionalProperties", {}), dict), path


@each_kind
def test_lists_say_how_they_merge(plural: str) -> None:
    for path, schema in walk(schema_of(plural)):
        if schema.get("type") == "array":
            kind = schema["x-kubernetes-list-type"]
            assert kind in {"atomic", "set", "map"}, path
            keys = schema["x-kubernetes-list-map-keys"] if kind == "map" else ()
            assert set(keys) <= set(schema["items"].get("required", ())), path


@each_kind
def test_names_are_camel_case_and_required_ones_exist(plural: str) -> None:
    for path, schema in walk(schema_of(plural)):
        names = set(schema.get("properties", {}))
        assert {name for name in names if not _CAMEL_CASE.fullmatch(name)} <= _OTHERS_NAMES, path
        assert set(schema.get("required", ())) <= names, path


@each_kind
def test_rules_say_what_is_wrong_in_words(plural: str) -> None:
    for path, schema in walk(schema_of(plural)):
        for rule in schema.get("x-kubernetes-validations", ()):
            assert len(rule["message"].split()) > 3, path
            assert "\n" not in rule["message"], path
            field = rule.get("fieldPath", "").removeprefix(".")
            assert not field or field in schema["properties"], path


@each_kind
def test_defaults_are_legal(plural: str) -> None:
    for path, schema in walk(schema_of(plural)):
        if "default" in schema:
            assert list(complaints(schema["default"], schema, path)) == []


@each_kind
def test_the_condition_is_kubernetes_own(plural: str) -> None:
    conditions = schema_of(plural, "status", "conditions")
    assert conditions["x-kubernetes-list-map-keys"] == ["type"]
    assert set(conditions["items"]["properties"]) == {
        "type",
        "status",
        "reason",
        "message",
        "observedGeneration",
        "lastTransitionTime",
    }
    assert conditions["items"] == schema_of(REASSIGNMENTS, "status", "conditions")["items"]


@pytest.mark.parametrize("resource", [BROKER_SETS, PARTITION_REASSIGNMENTS], ids=str)
def test_the_names_are_those_that_the_operator_uses(resource: Resource) -> None:
    spec = definition(resource.plural)["spec"]
    assert spec["group"] == resource.group
    assert version_of(resource.plural)["name"] == resource.version
    assert spec["names"]["plural"] == resource.plural
    assert spec["names"]["kind"] == resource.kind
    assert definition(resource.plural)["metadata"]["name"] == f"{resource.plural}.{resource.group}"
    assert (spec["scope"] == "Namespaced") is resource.is_namespaced


def test_one_category_lists_both() -> None:
    short_names = {}
    for plural in KINDS:
        names = definition(plural)["spec"]["names"]
        assert names["categories"] == ["ballast"]
        short_names[plural] = names["shortNames"]
    assert short_names == {"brokersets": ["bset"], "partitionreassignments": ["preassign"]}


@each_kind
def test_columns_show_what_there_is(plural: str) -> None:
    known = {path for path, _ in walk(schema_of(plural))}
    types = {path: schema.get("type") for path, schema in walk(schema_of(plural))}
    for column in version_of(plural)["additionalPrinterColumns"]:
        path = re.sub(r"\[\?\(@\.type==\"[A-Za-z]+\"\)\]", "[]", column["jsonPath"])
        if path == ".metadata.creationTimestamp":
            continue
        assert path in known, column["name"]
        assert column["type"] == types[path], column["name"]


def test_reassignments_are_found_by_their_broker_set() -> None:
    assert version_of(REASSIGNMENTS)["selectableFields"] == [
        {"jsonPath": ".spec.brokerSetRef.name"}
    ]


def test_defaults_go_down() -> None:
    schema: dict[str, Any] = {
        "type": "object",
        "properties": {
            "a": {"default": {}, "properties": {"b": {"default": 1, "type": "integer"}}},
            "c": {"properties": {"d": {"default": 2, "type": "integer"}}},
        },
    }
    assert with_defaults({}, schema) == {"a": {"b": 1}}
    assert with_defaults({"c": {}}, schema) == {"a": {"b": 1}, "c": {"d": 2}}
