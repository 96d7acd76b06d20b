import pytest

from ballast.znodes import owner
from ballast.znodes.errors import ZnodeError
from ballast.znodes.owner import Owner

OWNER = Owner(namespace="kafka", name="prod", uid="u-1")


def test_round_trip() -> None:
    data = owner.encode(OWNER)
    assert owner.decode(data) == OWNER
    assert data == b'{"version":1,"namespace":"kafka","name":"prod","uid":"u-1"}'


@pytest.mark.parametrize("data", [b"", b"{}", b'{"namespace":"","name":"a","uid":"b"}', b"[]"])
def test_what_cannot_be_read(data: bytes) -> None:
    with pytest.raises(ZnodeError):
        owner.decode(data)


def test_a_set_that_was_made_again_is_a_namesake() -> None:
    assert OWNER.is_namesake(Owner(namespace="kafka", name="prod", uid="u-2"))
    assert not OWNER.is_namesake(Owner(namespace="kafka", name="other", uid="u-1"))
