"""What a hostile hand may write into a znode: no decoder may do anything but refuse it."""

from collections.abc import Callable

import pytest

from ballast.znodes.errors import ZnodeError

DOCUMENTS = {
    "nothing": b"",
    "not JSON": b"\x00\xff\xfe",
    "invalid UTF-8": b'"\xff"',
    "cut off": b'{"version":1,',
    "trailing": b'{"version":1} x',
    "null": b"null",
    "a list": b"[]",
    "a number": b"-1.5",
    "a string": b'"version"',
    "no fields": b"{}",
    "NaN": b'{"version":NaN}',
    "infinite": b'{"version":1e999}',
    "deep list": b"[" * 200_000,
    "deep object": b'{"version":' * 100_000,
    "deep unknown field": b'{"x":' + b"[" * 100_000,
    "one MiB of spaces": b" " * (1 << 20),
    "five MiB": b'"' + b"x" * (5 << 20) + b'"',
    "one MiB number": b"9" * (1 << 20),
    "lone surrogate": b'{"version":"\\ud800"}',
}

each_hostile_document = pytest.mark.parametrize("data", DOCUMENTS.values(), ids=DOCUMENTS)


def refused(decode: Callable[[bytes], object], data: bytes, path: str, field: str = "") -> str:
    """Return the reason for which ``decode`` refuses ``data``, having checked what it names."""
    with pytest.raises(ZnodeError) as error:
        decode(data)
    assert error.value.path == path
    assert error.value.field == field
    assert len(str(error.value)) < 500
    return error.value.reason


def refused_somewhere(decode: Callable[[bytes], object], data: bytes, path: str) -> None:
    with pytest.raises(ZnodeError) as error:
        decode(data)
    assert error.value.path == path
    assert len(str(error.value)) < 500
