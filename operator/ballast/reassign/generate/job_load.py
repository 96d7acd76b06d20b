"""The argument by which the operator names the load history that a plan job reads itself."""

from typing import Annotated

import msgspec

from ballast.model.load_features import AVERAGE, LoadFeatures

_Moment = Annotated[int, msgspec.Meta(ge=0, le=2**53)]
_MAX_REASON = 200


class JobLoadRejected(ValueError):
    """The job's argument is not a load history; the message says why."""


class JobLoad(
    msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, rename="camel"
):
    """The cluster whose history is read, and the part of it that counts."""

    bootstrap_servers: Annotated[str, msgspec.Meta(min_length=1, max_length=4096)]
    """``host:port[,…]``."""
    partitions: Annotated[int, msgspec.Meta(ge=1, le=10_000)]
    """Partitions of the topic with the history."""
    since_ms: _Moment
    """Samples that end after this time count."""
    until_ms: _Moment
    """Samples that end after this time do not count, so that a second read gives the same."""
    features: LoadFeatures = AVERAGE

    def encode(self) -> str:
        """Return the argument."""
        return msgspec.json.encode(self).decode()

    @classmethod
    def decode(cls, text: str) -> "JobLoad":
        """Return the value of an argument. Raises `JobLoadRejected`."""
        try:
            return msgspec.json.decode(text, type=cls)
        except (msgspec.DecodeError, RecursionError) as error:
            raise JobLoadRejected(str(error)[:_MAX_REASON]) from error
