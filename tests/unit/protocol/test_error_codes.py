import pytest
from kio.schema.errors import ErrorCode as KioErrorCode

from ballast.protocol.error_codes import ErrorCode

LAST_OF_2_8 = 104


def test_all_codes_of_2_8_are_there() -> None:
    assert sorted(ErrorCode) == list(range(-1, LAST_OF_2_8 + 1))


@pytest.mark.parametrize("code", ErrorCode, ids=lambda code: code.name)
def test_code_has_kafkas_name_and_retriability(code: ErrorCode) -> None:
    assert KioErrorCode(code).name.upper() == code.name
    assert KioErrorCode(code).retriable == code.retriable


def test_every_error_has_a_message() -> None:
    assert [code for code in ErrorCode if not code.message] == [ErrorCode.NONE]
