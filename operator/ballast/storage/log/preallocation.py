"""Files of segments that are given their whole size at once (``preallocate``), and cut at the end.

As in Kafka (FileRecords.open, FileRecords.trim): zeros follow the last batch, which no reader gets
to. The roll of a segment, the clean close of a log and recovery cut them, whatever the setting is
by then.
"""

from ballast.storage.files.files import Files
from ballast.storage.log.segment import Segment


def reserve(files: Files, segment: Segment, size_bytes: int) -> None:
    """Make an empty segment's file ``size_bytes`` long; raises `DiskError`."""
    file = files.open(segment.path)
    try:
        file.truncate(size_bytes)
    finally:
        file.close()


def trim(files: Files, segment: Segment, *, durable: bool) -> None:
    """Cut a segment's file behind its last batch; raises `DiskError`.

    ``durable`` waits for the disk; else the next flush of the segment makes it durable.
    """
    if files.size(segment.path) <= segment.size:
        return
    file = files.open(segment.path)
    try:
        file.truncate(segment.size)
        if durable:
            file.flush()
    finally:
        file.close()
