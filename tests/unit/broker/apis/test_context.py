import pytest

from ballast.broker.apis.context import RequestInfo


def test_what_is_known_of_a_request_does_not_change() -> None:
    call = RequestInfo(version=3, client_id=None, peer="h")
    with pytest.raises(AttributeError):
        call.version = 4  # type: ignore[misc]
