"""The texts of blocks on their way from the driver to whoever computes them: in files.

The driver writes each piece of a text as it comes, and Spark's own file server hands the files to
the executors: so neither the driver nor a row of a DataFrame ever holds a snapshot. They are in the
folder of the session's files, which goes when the session ends: until then an executor that is new
asks for all of them.
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
    """Where an executor finds the texts: goes to it with the step that reads them."""

    names: Sequence[str]

    def __call__(self, block: int) -> bytes:
        """Return the text of a block."""
        return Path(SparkFiles.get(self.names[block])).read_bytes()


def hand_out(session: SparkSession, count: int, pieces: Iterable[tuple[int, bytes]]) -> BlockTexts:
    """Write ``count`` texts, of which each piece names its own, and give them to the session.

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
