"""LeaveGroup, byte for byte as kio and captured clients and brokers write it."""

from ballast.protocol.api_keys import ApiKey
from tests.unit.protocol.agreement import check_api


def test_every_version_has_kafkas_bytes() -> None:
    check_api(ApiKey.LEAVE_GROUP)
