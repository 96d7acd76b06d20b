"""Waiting for the disk: generators that yield what must be durable before they continue.

A generator of `Flush` yields each flush and continues once that is done. `run` waits in place, at
start and stop. `run_in_background` waits while the event loop goes on, so that a slow fsync delays
no request. While it waits the log may change, so a generator checks its assumptions again after
each ``yield``.

Only the waiting leaves the event loop. Files are opened, written and renamed in its own turn.
"""

from collections.abc import Callable, Coroutine, Generator, Iterable
from typing import Any

from ballast.storage.errors import DiskError
from ballast.storage.files.ports import Files, Flush

_TEMPORARY_SUFFIX = ".new"
"""Not the suffix of `Files.write_whole`, which may replace the same file meanwhile."""

Flushes = Generator[Flush, None, None]
"""Yields what must be durable before it continues. A failure is thrown into it as `DiskError`."""


InBackground = Callable[[Flush], Coroutine[Any, Any, None]]
"""Waits for the disk while the event loop goes on; raises what the flush raises."""


def run(flushes: Flushes) -> None:
    """Execute a generator in place; raises what it raises."""
    try:
        flush = next(flushes)
        while True:
            try:
                flush()
            except DiskError as error:
                flush = flushes.throw(error)
            else:
                flush = next(flushes)
    except StopIteration:
        return


async def run_in_background(flushes: Flushes, in_background: InBackground) -> None:
    """Execute a generator while the event loop goes on; raises what it raises."""
    try:
        flush = next(flushes)
        while True:
            try:
                await in_background(flush)
            except DiskError as error:
                flush = flushes.throw(error)
            else:
                flush = next(flushes)
    except StopIteration:
        return
    finally:
        flushes.close()


def each(pending: Iterable[Flush]) -> Flushes:
    """Yield each flush; close the rest if the generator ends early."""
    rest = list(pending)
    try:
        while rest:
            yield rest.pop(0)
    finally:
        for flush in rest:
            flush.close()


def write_whole(files: Files, path: str, data: bytes, is_current: Callable[[], bool]) -> Flushes:
    """Replace a small file's content atomically and durably, unless ``is_current`` ends meanwhile.

    The new content is dropped, and the file stays as it is, if ``is_current`` returns False once
    the content is durable: newer content was written, or the directory is gone.
    """
    temporary = path + _TEMPORARY_SUFFIX
    file = files.open(temporary, create=True)
    try:
        file.truncate(0)
        file.pwrite(data, 0)
        flush = file.begin_flush()
    finally:
        file.close()
    yield flush
    if is_current():
        files.rename(temporary, path)
        yield files.begin_flush_directory(path.rpartition("/")[0])
