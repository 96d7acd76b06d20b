"""The history of load that a plan job reads by itself: what the operator tells the job of it."""

from typing import Annotated

import msgspec

from ballast.model.load_features import AVERAGE, LoadFeatures

_Moment = Annotated[int, msgspec.Meta(ge=0, le=2**53)]
_MAX_REASON = 200


class JobLoadRejected(ValueError):
    """What a job was told of the history makes no sense; the message says why."""


class JobLoad(
    msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, rename="camel"
):
    """Whose history it is, and which part of it counts."""

    bootstrap_servers: Annotated[str, msgspec.Meta(min_length=1, max_length=4096)]
    """``host:port[,…]``."""
    partitions: Annotated[int, msgspec.Meta(ge=1, le=10_000)]
    """Of the topic with the history, from 0."""
    since_ms: _Moment
    """Samples that end after it count."""
    until_ms: _Moment
    """Samples that end after it do not: whoever reads again finds the same."""
    features: LoadFeatures = AVERAGE

    def encode(self) -> str:
        """Return it as an argument of the job."""
        return msgspec.json.encode(self).decode()

    @classmethod
    def decode(cls, text: str) -> "JobLoad":
        """Return what an argument says. Raises `JobLoadRejected`."""
        try:
            return msgspec.json.decode(text, type=cls)
        except (msgspec.DecodeError, RecursionError) as error:
            raise JobLoadRejected(str(error)[:_MAX_REASON]) from error
