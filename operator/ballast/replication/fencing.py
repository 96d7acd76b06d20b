"""Fencing of requests by leader epoch (KIP-320)."""

from ballast.model.ids import NO_EPOCH
from ballast.replication.errors import FencedLeaderEpoch, UnknownLeaderEpoch


def check_leader_epoch(requested_epoch: int, current_epoch: int) -> None:
    """Accept a request with the current leader epoch, or without one (`NO_EPOCH`).

    Raises `FencedLeaderEpoch` for an older epoch, `UnknownLeaderEpoch` for a newer one. Call it
    before the request changes anything: a fetch of another epoch is no acknowledgement in this one.
    """
    if requested_epoch in (NO_EPOCH, current_epoch):
        return
    if requested_epoch < current_epoch:
        raise FencedLeaderEpoch(f"epoch {requested_epoch} is older than {current_epoch}")
    raise UnknownLeaderEpoch(f"epoch {requested_epoch} is newer than {current_epoch}")
