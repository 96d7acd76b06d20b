"""Waiting for the disk: procedures that say what must be durable before they go on.

A procedure is a generator of `Flush`: it yields what the disk must have kept and goes on once that
is so. `run` waits in place, for a start and a stop; `run_in_background` lets the event loop go on
meanwhile, so that a slow fsync delays nobody. Between two steps of the latter anything may happen
to the log: a procedure looks again at what it relies on after each ``yield``.

Only the waiting leaves the event loop. What is opened, written and renamed happens in its turn.
"""

from collections.abc import Callable, Coroutine, Generator, Iterable
from typing import Any

from ballast.storage.errors import DiskError
from ballast.storage.files.ports import Files, Flush

_TEMPORARY_SUFFIX = ".new"
"""Another name than the one of `Files.write_whole`, which may replace the same file meanwhile."""

Flushes = Generator[Flush, None, None]
"""Yields what must be durable before it goes on. A failure is thrown into it as `DiskError`."""


InBackground = Callable[[Flush], Coroutine[Any, Any, None]]
"""Runs what waits for the disk while the event loop goes on; raises what that raises."""


def run(flushes: Flushes) -> None:
    """Go through a procedure in place; raises what it raises."""
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
    """Go through a procedure while the event loop goes on; raises what it raises."""
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
    """Yield each flush; those that are not asked for any more are given up."""
    rest = list(pending)
    try:
        while rest:
            yield rest.pop(0)
    finally:
        for flush in rest:
            flush.close()


def write_whole(files: Files, path: str, data: bytes, is_current: Callable[[], bool]) -> Flushes:
    """Replace a small file's content atomically and durably, unless ``is_current`` ends meanwhile.

    The content is given up, and the file left as it is, when ``is_current`` does not hold any more
    once the content is durable: something newer was written, or the folder is gone.
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
