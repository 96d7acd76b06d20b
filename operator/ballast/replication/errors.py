"""Errors of replication; those of producers' sequences are in `producer_state`.

ReplicationError
├── FencedLeaderEpoch         the sender's leader epoch is older than ours
├── UnknownLeaderEpoch        the sender's leader epoch is newer than ours
├── NotAReplica               a fetch from a broker that the assignment does not name
├── NotEnoughReplicas         acks=all refused before anything was appended
├── FetchOffsetOutOfRange     a fetch position that the leader's log or epochs do not cover
├── FetchSessionNotFound      a fetch of a session that was evicted or never existed
├── InvalidFetchSessionEpoch  a fetch that is not the next one of its session
└── NoIsrChangeInFlight       the outcome of a change that was never proposed
"""


class ReplicationError(Exception):
    """Root of replication's errors."""


class FencedLeaderEpoch(ReplicationError):
    """The request has an older leader epoch; its sender has to get the newer one."""


class UnknownLeaderEpoch(ReplicationError):
    """The request has a newer leader epoch than this broker knows: it is retried later."""


class NotAReplica(ReplicationError):
    """The broker that fetched is not among the partition's replicas."""


class NotEnoughReplicas(ReplicationError):
    """The in-sync replicas are fewer than ``min.insync.replicas``; nothing was appended."""


class FetchOffsetOutOfRange(ReplicationError):
    """The fetch position is outside the leader's log, or the leader has no record of its epoch."""


class FetchSessionNotFound(ReplicationError):
    """The session never existed, was evicted, or has ended: the peer starts a new one."""


class InvalidFetchSessionEpoch(ReplicationError):
    """A fetch of the session was lost or repeated: the peer starts a new one."""


class NoIsrChangeInFlight(ReplicationError):
    """An outcome was reported, but no ISR change is pending: a bug of the caller."""
