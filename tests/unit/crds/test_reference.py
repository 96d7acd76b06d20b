"""docs/reference.md is what the schemas say."""

from ballast.model.settings.table import BROKER_SETTINGS, TOPIC_SETTINGS
from docs.generate import TARGET, fields, page, rules
from tests.unit.crds.schemas import KINDS, schema_of, walk


def test_it_is_current() -> None:
    assert TARGET.read_text() == page(), "run: python -m docs.generate"


def test_every_field_is_in_it() -> None:
    for plural in KINDS:
        for part in ("spec", "status"):
            schema = schema_of(plural, part)
            named = {path for path, _, _ in fields(schema, part)}
            known = {path for path, _ in walk(schema, part)}
            assert named == {path for path in known if path[-1] not in "]}"} - {part}


def test_every_rule_is_in_it() -> None:
    for plural in KINDS:
        schema = schema_of(plural)
        with_rules = [field for _, field in walk(schema) if "x-kubernetes-validations" in field]
        count = sum(len(field["x-kubernetes-validations"]) for field in with_rules)
        assert count == len(list(rules(schema))) > 10


def test_it_links_to_what_exists() -> None:
    assert (TARGET.parent / "runbook.md").exists()
    assert (TARGET.parent.parent / "crds").is_dir()


def test_every_property_is_in_it() -> None:
    text = TARGET.read_text()
    missing = [name for name in (*BROKER_SETTINGS, *TOPIC_SETTINGS) if f"| `{name}` |" not in text]
    assert not missing
