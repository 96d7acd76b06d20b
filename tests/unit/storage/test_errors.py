"""The package's errors."""

import errno

from ballast.storage import errors
from ballast.storage.errors import DiskError, OffsetOutOfRange, StorageError


def test_all_are_storage_errors() -> None:
    kinds = [kind for kind in vars(errors).values() if isinstance(kind, type)]
    assert len(kinds) > 10
    assert all(issubclass(kind, StorageError) for kind in kinds)


def test_they_say_what_happened() -> None:
    error = DiskError("write", "/d/x", OSError(errno.ENOSPC, "No space left on device"))
    assert (str(error), error.errno) == ("write /d/x: No space left on device", errno.ENOSPC)
    assert str(OffsetOutOfRange(9, 1, 5)) == "offset 9 is outside 1..5"
