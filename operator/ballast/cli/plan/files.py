"""Snapshots and plans in files: read in pieces, written beside and then put in place.

A plan in Ballast's format is the text of ``ballast-plan/v1`` itself, so that its SHA-256 is the
plan's digest; a name that ends in ``.gz`` is compressed.
"""

import gzip
import zlib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import BinaryIO

from ballast.planner.snapshot.columns import ClusterColumns
from ballast.planner.snapshot.lines import read_snapshot
from ballast.reassign.errors import PlanRejected
from ballast.reassign.plan.lines import (
    MAX_LINE_BYTES,
    LineReader,
    PlanLine,
)

_PIECE_BYTES = 1024 * 1024


class FileUnusable(Exception):
    """A file that cannot be read or written; the text says which, and why."""


def load_snapshot(path: Path) -> ClusterColumns:
    """Return the cluster in a file. Raises `SnapshotRejected` and `FileUnusable`."""
    return read_snapshot(read_pieces(path))


def read_pieces(path: Path) -> Iterator[bytes]:
    """Yield a file in pieces. Raises `FileUnusable`."""
    try:
        with path.open("rb") as file:
            while piece := file.read(_PIECE_BYTES):
                yield piece
    except OSError as error:
        raise FileUnusable(f"{path} cannot be read: {error}") from error


def read_plan_file(path: Path) -> Iterator[PlanLine]:
    """Yield the lines of a plan. Raises `PlanRejected`, naming the line, and `FileUnusable`."""
    reader = LineReader()
    try:
        with gzip.open(path) if path.suffix == ".gz" else path.open("rb") as file:
            number = 0
            while text := file.readline(MAX_LINE_BYTES + 2):
                number += 1
                try:
                    yield reader.read(text.removesuffix(b"\n"))
                except PlanRejected as error:
                    raise PlanRejected(f"line {number}: {error}") from error
    except (OSError, EOFError, zlib.error) as error:
        raise FileUnusable(f"{path} cannot be read: {error}") from error


def write_file(path: Path, pieces: Iterable[bytes]) -> None:
    """Write a file as a whole or not at all. Raises `FileUnusable`."""
    beside = path.with_name(f".{path.name}.part")
    try:
        try:
            with beside.open("wb") as file:
                _write(file, pieces, compress=path.suffix == ".gz")
            beside.replace(path)
        finally:
            beside.unlink(missing_ok=True)
    except OSError as error:
        raise FileUnusable(f"{path} cannot be written: {error}") from error


def _write(file: BinaryIO, pieces: Iterable[bytes], *, compress: bool) -> None:
    if not compress:
        file.writelines(pieces)
        return
    # Without name and time, so that the same content gives the same file.
    with gzip.GzipFile(filename="", mode="wb", fileobj=file, mtime=0) as packed:
        for piece in pieces:
            packed.write(piece)
