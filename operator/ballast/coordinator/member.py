"""One member of a group, and its waiting requests (Kafka ``MemberMetadata``)."""

from collections.abc import Collection

from ballast.coordinator.requests import JoinReply, Protocols, SyncReply


class Member:
    """A member: its identity, the protocols it supports, its assignment.

    Invariant: at most one of ``join_reply`` and ``sync_reply`` is set.
    """

    __slots__ = (
        "assignment",
        "client_host",
        "client_id",
        "group_instance_id",
        "heartbeat_satisfied",
        "is_leaving",
        "is_new",
        "join_reply",
        "member_id",
        "protocol_type",
        "protocols",
        "rebalance_timeout_ms",
        "session_timeout_ms",
        "sync_reply",
    )

    def __init__(  # noqa: PLR0913 - each is a field of the member
        self,
        member_id: str,
        *,
        group_instance_id: str | None,
        client_id: str,
        client_host: str,
        rebalance_timeout_ms: int,
        session_timeout_ms: int,
        protocol_type: str,
        protocols: Protocols,
        assignment: bytes = b"",
    ) -> None:
        self.member_id = member_id
        self.group_instance_id = group_instance_id
        self.client_id = client_id
        self.client_host = client_host
        self.rebalance_timeout_ms = rebalance_timeout_ms
        self.session_timeout_ms = session_timeout_ms
        self.protocol_type = protocol_type
        self.protocols = protocols
        self.assignment = assignment
        self.join_reply: JoinReply | None = None
        self.sync_reply: SyncReply | None = None
        self.is_new = False
        """Whether its first JoinGroup is not answered yet: the client does not have its id."""
        self.is_leaving = False
        self.heartbeat_satisfied = False
        """Set while a heartbeat completes the delayed operation of the session."""

    @property
    def is_static(self) -> bool:
        """Whether it has an instance id, under which it may restart (KIP-345)."""
        return self.group_instance_id is not None

    @property
    def is_awaiting_join(self) -> bool:
        """Whether its JoinGroup is not answered yet."""
        return self.join_reply is not None

    @property
    def has_satisfied_heartbeat(self) -> bool:
        """Whether it counts as alive: a client sends no heartbeats while it waits for a response.

        A new member does not count as alive, or members whose clients are gone would pile up.
        """
        if not self.is_new and (self.join_reply is not None or self.sync_reply is not None):
            return True
        return self.heartbeat_satisfied

    def metadata(self, protocol: str) -> bytes:
        """Return the member's metadata for a protocol that it supports."""
        return next(metadata for name, metadata in self.protocols if name == protocol)

    def vote(self, candidates: Collection[str]) -> str:
        """Return the candidate that the member prefers."""
        return next(name for name, _ in self.protocols if name in candidates)
