import pytest

from ballast.znodes import controller_epoch
from tests.unit.znodes.hostile import DOCUMENTS, refused


def test_plain_text() -> None:
    assert controller_epoch.encode(7) == b"7"
    assert controller_epoch.decode(b"7") == 7


@pytest.mark.parametrize(
    "data", [b"-1", b" 1", b"1.0", b"\xff", b"2147483648", b"1" * 50, *DOCUMENTS.values()]
)
def test_hostile(data: bytes) -> None:
    refused(controller_epoch.decode, data, "/controller_epoch")
