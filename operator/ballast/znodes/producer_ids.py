"""/latest_producer_id_block, persistent: the block of producer ids last taken, and by whom.

``{"version":1,"broker":1,"block_start":"0","block_end":"999"}``, written on condition of its
version; no data before the first block.
"""

from dataclasses import dataclass

import msgspec

from ballast.model.settings.values import LONG_MAX
from ballast.znodes import documents
from ballast.znodes.errors import ZnodeError

PATH = "/latest_producer_id_block"
BLOCK_SIZE = 1000
MAX_PRODUCER_ID = LONG_MAX


@dataclass(frozen=True, slots=True, kw_only=True)
class ProducerIdBlock:
    """One broker's block of producer ids, both ends included."""

    broker_id: int
    first: int
    last: int


class _Document(msgspec.Struct):
    broker: documents.BrokerId
    block_start: str
    block_end: str


def encode(block: ProducerIdBlock) -> bytes:
    """Return the data of /latest_producer_id_block."""
    return documents.write(
        {
            "version": 1,
            "broker": block.broker_id,
            "block_start": str(block.first),
            "block_end": str(block.last),
        }
    )


def decode(data: bytes) -> ProducerIdBlock | None:
    """Return the block last taken, None if there was none; raises `ZnodeError`."""
    if not data:
        return None
    document = documents.read(PATH, data, _Document)
    first = documents.decimal(PATH, "block_start", document.block_start, MAX_PRODUCER_ID)
    last = documents.decimal(PATH, "block_end", document.block_end, MAX_PRODUCER_ID)
    if last < first:
        raise ZnodeError(PATH, "block_end", f"{last} is before block_start {first}")
    return ProducerIdBlock(broker_id=document.broker, first=first, last=last)


def next_block(latest: ProducerIdBlock | None, broker_id: int) -> ProducerIdBlock:
    """Return the block after ``latest``; raises `ZnodeError` when the ids are used up."""
    first = 0 if latest is None else latest.last + 1
    if first > MAX_PRODUCER_ID - BLOCK_SIZE:
        raise ZnodeError(PATH, "block_end", "producer ids are used up")
    return ProducerIdBlock(broker_id=broker_id, first=first, last=first + BLOCK_SIZE - 1)
