"""Replaces segments by a new one so that a crash leaves either (Kafka's ``.swap``).

    .cleaned   being written; removed when the log is opened
    .swap      complete and durable; opening the log finishes the swap
    (none)     in use; the old segments' files wait under .deleted

The indexes are renamed before the batches' file both times: the ``.log.swap`` alone says that a
swap is to be finished, and while it is there its indexes are under either name.
"""

from collections.abc import Sequence

from ballast.storage.files.layout import (
    CLEANED_SUFFIX,
    LOG_SUFFIX,
    OFFSET_INDEX_SUFFIX,
    SWAP_SUFFIX,
    TIME_INDEX_SUFFIX,
    parse_segment_file,
    segment_file,
)
from ballast.storage.files.ports import Files
from ballast.storage.log.segment import Segment
from ballast.storage.log.segments import Segments

_INDEXES = (OFFSET_INDEX_SUFFIX, TIME_INDEX_SUFFIX)


def swap_in(segments: Segments, old: Sequence[Segment], new: Segment) -> None:
    """Replace the consecutive segments ``old`` by ``new``, whose files are ``.cleaned``.

    The content and the names of ``new`` are durable already. Raises `DiskError`; then only recovery
    can determine which of them the log has.
    """
    new.change_suffix(SWAP_SUFFIX)
    # No old name can go before this one is durable. It is waited for in place: a truncation while
    # the swap is half done would have to undo it.
    segments.flush_names_now()
    segments.replace(old, new)
    new.change_suffix("")
    # If the process restarts before the next flush, it finishes the swap again.
    segments.names_changed = True


def finish_swaps(files: Files, directory: str) -> None:
    """Bring the files of a log into one of the two states; raises `DiskError`, `CorruptLog`."""
    names = files.names(directory)
    for name in names:
        if name.endswith(CLEANED_SUFFIX):
            files.remove(f"{directory}/{name}")
    swaps = [
        base_offset
        for name in names
        if (base_offset := parse_segment_file(name, LOG_SUFFIX + SWAP_SUFFIX)) is not None
    ]
    for base_offset in swaps:
        _finish(files, directory, base_offset)
    for name in files.names(directory):
        if name.endswith(SWAP_SUFFIX):
            # The file of its batches was not renamed, so this swap had not begun.
            files.remove(f"{directory}/{name}")
    if swaps:
        files.flush_directory(directory)


def _finish(files: Files, directory: str, base_offset: int) -> None:
    new = Segment(files, directory, base_offset, 0, SWAP_SUFFIX)
    new.size = files.size(new.path)
    next_offset = base_offset
    for _, header in new.scan(0):
        next_offset = header.next_offset
    new.release()
    for name in files.names(directory):
        for suffix in (LOG_SUFFIX, *_INDEXES):
            found = parse_segment_file(name, suffix)
            if found is not None and base_offset < found < next_offset:
                files.remove(f"{directory}/{name}")
    for suffix in (*_INDEXES, LOG_SUFFIX):
        final = f"{directory}/{segment_file(base_offset, suffix)}"
        if files.exists(final + SWAP_SUFFIX):
            files.rename(final + SWAP_SUFFIX, final)
