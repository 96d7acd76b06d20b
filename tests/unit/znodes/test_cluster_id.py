import pytest

from ballast.znodes import cluster_id
from tests.unit.znodes.hostile import each_hostile_document, refused, refused_somewhere


def test_the_version_is_a_string() -> None:
    data = cluster_id.encode("4L6g3nShT-eMCtK--X86sw")
    assert data == b'{"version":"1","id":"4L6g3nShT-eMCtK--X86sw"}'
    assert cluster_id.decode(data) == "4L6g3nShT-eMCtK--X86sw"


@each_hostile_document
def test_hostile(data: bytes) -> None:
    refused_somewhere(cluster_id.decode, data, "/cluster/id")


@pytest.mark.parametrize("value", [b'""', b'"a/b"', b"7", b'"' + b"x" * 65 + b'"', b'"a\\n"'])
def test_bad_ids(value: bytes) -> None:
    refused(cluster_id.decode, b'{"version":"1","id":' + value + b"}", "/cluster/id", "id")
