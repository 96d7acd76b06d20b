"""/controller_epoch, persistent: the number of elections so far, as plain text.

Its znode version fences: every write of a controller checks it.
"""

from ballast.znodes import documents
from ballast.znodes.errors import ZnodeError

PATH = "/controller_epoch"

INITIAL_EPOCH = 0
"""Written when the znode is made; the first controller's epoch is 1."""


def encode(epoch: int) -> bytes:
    """Return the data of /controller_epoch."""
    return str(epoch).encode()


def decode(data: bytes) -> int:
    """Return the epoch; raises `ZnodeError`."""
    if len(data) > 10:
        raise ZnodeError(PATH, "", f"{len(data)} bytes are not an epoch")
    return documents.decimal(PATH, "", data.decode("utf-8", "replace"))
