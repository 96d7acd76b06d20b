"""Distributes the texts of blocks from the driver to the executors, as files.

The driver appends each piece of text to its block's file, and Spark's file server sends the files
to the executors. So neither the driver nor a row of a DataFrame ever holds the snapshot. The files
are in the session's folder, which is deleted when the session ends; a new executor fetches all of
them.

"""

from collections.abc import Iterable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from tempfile import NamedTemporaryFile

from pyspark import SparkFiles
from pyspark.sql import SparkSession


@dataclass(frozen=True, slots=True)
class BlockTexts:
    """Finds the texts on an executor; pickled with the step that reads them."""

    names: Sequence[str]

    def __call__(self, block: int) -> bytes:
        """Return the text of a block."""
        return Path(SparkFiles.get(self.names[block])).read_bytes()


def distribute_texts(
    session: SparkSession, count: int, pieces: Iterable[tuple[int, bytes]]
) -> BlockTexts:
    """Write ``count`` texts from numbered pieces and register them with the session.

    Raises what reading the pieces raises.
    """
    folder = SparkFiles.getRootDirectory()
    with ExitStack() as opened:
        files = [
            opened.enter_context(NamedTemporaryFile(dir=folder, prefix="block-", delete=False))
            for _ in range(count)
        ]
        for block, piece in pieces:
            files[block].write(piece)
    for file in files:
        session.sparkContext.addFile(file.name)
    return BlockTexts(tuple(Path(file.name).name for file in files))
