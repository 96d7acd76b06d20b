"""The codecs of record batches, as Kafka's clients frame them.

A batch is opened only where its single records matter: for a look-up by time, and for compaction.
What it may grow to is bounded, since what it holds is its producer's word.

* gzip (1): one or more gzip members.
* snappy (2): raw snappy, or Xerial's framing: a header of 16 bytes, then blocks behind their int32
  length. What is made here is framed.
* lz4 (3): an LZ4 frame. What is made here has independent blocks of 64 KiB, which Kafka's Java
  clients insist on, and no checksums but the header's.
* zstd (4): a zstd frame.
"""

import gzip
import zlib
from collections.abc import Callable, Iterator

import cramjam

from ballast.protocol.errors import CorruptRecords, InvalidRecords
from ballast.protocol.records import COMPRESSIONS, Buffer

MAX_DECOMPRESSED_BYTES = 64 * 1024 * 1024
"""What a compressed batch may grow to before it is refused as a bomb."""

_NONE, _GZIP, _SNAPPY, _LZ4, _ZSTD = range(len(COMPRESSIONS))
_GZIP_WINDOW_BITS = 31

_XERIAL_MAGIC = b"\x82SNAPPY\x00"
_XERIAL_HEADER = _XERIAL_MAGIC + b"\x00\x00\x00\x01\x00\x00\x00\x01"
_XERIAL_BLOCK_BYTES = 32 * 1024

_LZ4_HEADER = bytes.fromhex("04224d18604082")
_LZ4_BLOCK_BYTES = 64 * 1024
_LZ4_STORED = 1 << 31

_FIRST_GUESS_BYTES = 256 * 1024
_GUESSED_RATIO = 8


def decompress(compression: int, payload: Buffer, max_bytes: int = MAX_DECOMPRESSED_BYTES) -> bytes:
    """Return the records of a batch whose attributes name the codec ``compression``.

    Raises `InvalidRecords` for an unknown codec, `CorruptRecords` for what the codec did not make
    and for what opens to over ``max_bytes``.
    """
    data = bytes(payload)
    if compression == _NONE:
        return data
    if compression == _GZIP:
        return _gunzip(data, max_bytes)
    if compression == _SNAPPY:
        return b"".join(_unsnap(data, max_bytes))
    if compression == _LZ4:
        return _grow(cramjam.lz4.decompress_into, data, max_bytes)
    if compression == _ZSTD:
        return _grow(cramjam.zstd.decompress_into, data, max_bytes)
    raise InvalidRecords(f"cannot open compression {compression}")


def compress(compression: int, records: bytes) -> bytes:
    """Return ``records`` as a batch of that codec holds them; raises `InvalidRecords`."""
    if compression == _NONE:
        return records
    if compression == _GZIP:
        return gzip.compress(records, mtime=0)
    if compression == _SNAPPY:
        return _XERIAL_HEADER + b"".join(_snapped(records))
    if compression == _LZ4:
        return _LZ4_HEADER + b"".join(_lz4_blocks(records)) + bytes(4)
    if compression == _ZSTD:
        return bytes(cramjam.zstd.compress(records))
    raise InvalidRecords(f"cannot make compression {compression}")


def _too_large(max_bytes: int) -> CorruptRecords:
    return CorruptRecords(f"the batch opens to over {max_bytes} bytes")


def _gunzip(data: bytes, max_bytes: int) -> bytes:
    try:
        inflater = zlib.decompressobj(_GZIP_WINDOW_BITS)
        inflated = inflater.decompress(data, max_bytes)
    except zlib.error as error:
        raise CorruptRecords(f"malformed gzip: {error}") from error
    if inflater.unconsumed_tail:
        raise _too_large(max_bytes)
    if not inflater.eof:
        raise CorruptRecords("the gzip is cut off")
    return inflated


def _grow(into: Callable[[bytes, bytearray], int], data: bytes, max_bytes: int) -> bytes:
    """Decompress into ever larger buffers: the codec does not say how much there is."""
    size = min(max(_FIRST_GUESS_BYTES, _GUESSED_RATIO * len(data)), max_bytes)
    while True:
        buffer = bytearray(size)
        try:
            used = into(data, buffer)
        except cramjam.DecompressionError as error:
            if "whole buffer" not in str(error):
                raise CorruptRecords(f"malformed batch: {error}") from error
            if size == max_bytes:
                raise _too_large(max_bytes) from error
            size = min(_GUESSED_RATIO * size, max_bytes)
        else:
            return bytes(memoryview(buffer)[:used])


def _unsnap(data: bytes, max_bytes: int) -> Iterator[bytes]:
    room = max_bytes
    for block in _snappy_blocks(data):
        try:
            room -= cramjam.snappy.decompress_raw_len(block)
            if room < 0:
                raise _too_large(max_bytes)
            yield bytes(cramjam.snappy.decompress_raw(block))
        except cramjam.DecompressionError as error:
            raise CorruptRecords(f"malformed snappy: {error}") from error


def _snappy_blocks(data: bytes) -> Iterator[bytes]:
    if not data.startswith(_XERIAL_MAGIC):
        yield data
        return
    position = len(_XERIAL_HEADER)
    if len(data) < position:
        raise CorruptRecords("the snappy header is cut off")
    while position < len(data):
        start = position + 4
        position = start + int.from_bytes(data[position:start], "big")
        if position > len(data):
            raise CorruptRecords("a snappy block is cut off")
        yield data[start:position]


def _snapped(records: bytes) -> Iterator[bytes]:
    for start in range(0, len(records), _XERIAL_BLOCK_BYTES):
        block = bytes(cramjam.snappy.compress_raw(records[start : start + _XERIAL_BLOCK_BYTES]))
        yield len(block).to_bytes(4, "big") + block


def _lz4_blocks(records: bytes) -> Iterator[bytes]:
    for start in range(0, len(records), _LZ4_BLOCK_BYTES):
        plain = records[start : start + _LZ4_BLOCK_BYTES]
        block = bytes(cramjam.lz4.compress_block(plain, store_size=False))
        if len(block) < len(plain):
            yield len(block).to_bytes(4, "little") + block
        else:
            yield (len(plain) | _LZ4_STORED).to_bytes(4, "little") + plain
