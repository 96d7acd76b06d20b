import pytest

from ballast.protocol.error_codes import ErrorCode
from ballast.protocol.errors import (
    BatchTooLarge,
    CorruptRecords,
    InvalidRecords,
    ProtocolError,
    RecordsError,
    UnknownApiKey,
    UnsupportedMagic,
    UnsupportedVersion,
)


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (CorruptRecords, ErrorCode.CORRUPT_MESSAGE),
        (BatchTooLarge, ErrorCode.MESSAGE_TOO_LARGE),
        (UnsupportedMagic, ErrorCode.UNSUPPORTED_FOR_MESSAGE_FORMAT),
        (InvalidRecords, ErrorCode.INVALID_RECORD),
    ],
)
def test_refused_records_say_how_to_answer(error: type[RecordsError], code: ErrorCode) -> None:
    assert error("why").error_code is code


def test_unserved_requests_are_named() -> None:
    assert "99" in str(UnknownApiKey(99))
    assert "version 13" in str(UnsupportedVersion(1, 13))
    assert issubclass(UnsupportedVersion, ProtocolError)
