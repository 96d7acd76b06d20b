import pytest

from ballast.znodes import config_changes
from tests.unit.znodes.hostile import each_hostile_document, refused, refused_somewhere

NAME = "config_change_0000000033"
PATH = f"/config/changes/{NAME}"


def decode(data: bytes) -> str:
    return config_changes.decode(NAME, data)


@pytest.mark.parametrize(
    "entity",
    ["topics/t", "brokers/1", "brokers/<default>", "clients/c", "users/u", "users/u/clients/c"],
)
def test_version_2(entity: str) -> None:
    data = config_changes.encode(entity)
    assert data == b'{"version":2,"entity_path":"%s"}' % entity.encode()
    assert decode(data) == entity


def test_version_1() -> None:
    assert decode(b'{"version":1,"entity_type":"topics","entity_name":"t"}') == "topics/t"


@each_hostile_document
def test_hostile(data: bytes) -> None:
    refused_somewhere(decode, data, PATH)


@pytest.mark.parametrize(
    ("data", "field"),
    [
        (b'{"version":2}', "entity_path"),
        (b'{"version":2,"entity_path":7}', "entity_path"),
        (b'{"version":2,"entity_path":"other/t"}', "entity_path"),
        (b'{"version":2,"entity_path":"topics/a/b"}', "entity_path"),
        (b'{"version":2,"entity_path":"topics/' + b"x" * 2000 + b'"}', "entity_path"),
        (b'{"version":1,"entity_type":"topics"}', "entity_path"),
        (b'{"version":"2"}', "version"),
    ],
)
def test_bad_fields(data: bytes, field: str) -> None:
    refused(decode, data, PATH, field)


def test_sequence_numbers() -> None:
    names = [NAME, "config_change_1", "other", "config_change_00000000330"]
    assert [config_changes.sequence_of(name) for name in names] == [33, None, None, None]
    assert config_changes.path(NAME) == PATH
    assert PATH.startswith(config_changes.PREFIX)
