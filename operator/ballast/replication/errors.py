"""What can go wrong in replication; producers' sequences have their own tree (`producer_state`).

ReplicationError
├── FencedLeaderEpoch         the sender's leader epoch is older than ours
├── UnknownLeaderEpoch        the sender's leader epoch is newer than ours
├── NotAReplica               a fetch from a broker that the assignment does not name
├── NotEnoughReplicas         acks=all refused before anything was appended
├── FetchOffsetOutOfRange     a fetch position that the leader's log or epochs do not cover
├── FetchSessionNotFound      a fetch of a session that is not kept (any more)
├── InvalidFetchSessionEpoch  a fetch that is not the next one of its session
└── NoIsrChangeInFlight       an outcome was reported of a change that was never proposed
"""


class ReplicationError(Exception):
    """Root of replication's errors."""


class FencedLeaderEpoch(ReplicationError):
    """The request was made in an older leader epoch: its sender must learn of the newer one."""


class UnknownLeaderEpoch(ReplicationError):
    """The request was made in a newer leader epoch than this broker has heard of: retry later."""


class NotAReplica(ReplicationError):
    """The broker that fetched is not among the partition's replicas."""


class NotEnoughReplicas(ReplicationError):
    """The in-sync replicas are fewer than ``min.insync.replicas``; nothing was appended."""


class FetchOffsetOutOfRange(ReplicationError):
    """The fetch position lies outside the leader's log, or its epoch has left no trace there."""


class FetchSessionNotFound(ReplicationError):
    """The session was never here, was evicted, or has ended: the peer begins a new one."""


class InvalidFetchSessionEpoch(ReplicationError):
    """A fetch of the session was lost, or came twice: the peer begins a new one."""


class NoIsrChangeInFlight(ReplicationError):
    """An outcome was reported, but no ISR change is pending: the caller lost count."""
