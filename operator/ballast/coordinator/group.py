"""One group: its members, the protocol they share, its generation (Kafka ``GroupMetadata``)."""

from collections import Counter
from collections.abc import Iterable

from ballast.coordinator.member import Member
from ballast.coordinator.offsets import Expiry, GroupOffsets
from ballast.coordinator.requests import (
    JoinedMember,
    JoinReply,
    JoinResult,
    Protocols,
    SyncReply,
    SyncResult,
)
from ballast.coordinator.states import VALID_PREVIOUS_STATES, GroupState, check_transition
from ballast.coordinator.subscriptions import CONSUMER, subscribed_topics
from ballast.protocol.error_codes import ErrorCode


class Group:
    """A group of consumers, or of other clients of the group protocol such as Kafka Connect.

    Invariants: the leader is a member, unless there are none; ``static_members`` maps each static
    member's instance id to its member id; at least one protocol is supported by all members.
    """

    def __init__(self, group_id: str, partition: int) -> None:
        """Make an empty group; its records are in ``partition`` of ``__consumer_offsets``."""
        self.group_id = group_id
        self.partition = partition
        self.state = GroupState.EMPTY
        self.state_timestamp_ms: int | None = None
        """When the state last changed; None if unknown."""
        self.generation_id = 0
        self.protocol_type: str | None = None
        self.protocol_name: str | None = None
        self.leader_id: str | None = None
        self.subscribed_topics: frozenset[str] | None = None
        """Topics that a consumer group's members subscribe to; None if unknown."""
        self.members: dict[str, Member] = {}
        """By member id, in the order of joining."""
        self.static_members: dict[str, str] = {}
        """Member ids by instance id."""
        self.pending_members: set[str] = set()
        """Ids that were assigned (KIP-394) and with which no member has joined yet."""
        self.pending_sync_members: set[str] = set()
        """Members of the generation that have not sent SyncGroup yet."""
        self.new_member_added = False
        """Whether a member joined during the initial rebalance delay."""
        self.offsets = GroupOffsets()

    # -- state ----------------------------------------------------------------------------------

    def transition(self, state: GroupState, now_ms: int) -> None:
        """Change state; raises `IllegalTransition`."""
        check_transition(self.group_id, self.state, state)
        self.state = state
        self.state_timestamp_ms = now_ms

    @property
    def is_dead(self) -> bool:
        """Whether the group was deleted or unloaded."""
        return self.state is GroupState.DEAD

    @property
    def can_rebalance(self) -> bool:
        """Whether a rebalance may start now."""
        return self.state in VALID_PREVIOUS_STATES[GroupState.PREPARING_REBALANCE]

    def begin_generation(self, now_ms: int) -> None:
        """Start the next generation with the members that have joined."""
        self.generation_id += 1
        self.protocol_name = self.select_protocol() if self.members else None
        self.subscribed_topics = self.find_subscribed_topics()
        self.pending_sync_members.clear()
        self.transition(
            GroupState.COMPLETING_REBALANCE if self.members else GroupState.EMPTY, now_ms
        )

    def find_subscribed_topics(self) -> frozenset[str] | None:
        """Return the topics of a consumer group's members, None if unknown."""
        if self.protocol_type != CONSUMER:
            return None
        if not self.members:
            return frozenset()
        name = self.protocol_name
        if name is None:
            return None
        return subscribed_topics(member.metadata(name) for member in self.members.values())

    # -- members --------------------------------------------------------------------------------

    def add(self, member: Member) -> None:
        """Add a member; the first one sets the protocol type and becomes the leader."""
        if not self.members:
            self.protocol_type = member.protocol_type
        assert self.protocol_type == member.protocol_type
        self.members[member.member_id] = member
        if self.leader_id is None:
            self.leader_id = member.member_id
        if member.group_instance_id is not None:
            self.static_members[member.group_instance_id] = member.member_id
        self.pending_members.discard(member.member_id)

    def remove(self, member_id: str) -> None:
        """Remove a member if it is present; if it was the leader, the oldest other one leads."""
        member = self.members.pop(member_id, None)
        self.pending_members.discard(member_id)
        self.pending_sync_members.discard(member_id)
        if member is None:
            return
        # A waiting request is refused, so that a client that still runs joins again.
        self.answer_join(member, JoinResult(error=ErrorCode.UNKNOWN_MEMBER_ID))
        self.answer_sync(member, SyncResult(error=ErrorCode.UNKNOWN_MEMBER_ID))
        instance_id = member.group_instance_id
        if instance_id is not None and self.static_members.get(instance_id) == member_id:
            del self.static_members[instance_id]
        if self.leader_id == member_id:
            self.leader_id = next(iter(self.members), None)

    def replace_static(self, instance_id: str, member_id: str) -> Member:
        """Give a static member a new id; waiting requests of the old one are fenced."""
        old_id = self.static_members[instance_id]
        member = self.members.pop(old_id)
        self.answer_join(member, JoinResult(error=ErrorCode.FENCED_INSTANCE_ID, member_id=old_id))
        self.answer_sync(member, SyncResult(error=ErrorCode.FENCED_INSTANCE_ID))
        member.member_id = member_id
        self.members[member_id] = member
        self.static_members[instance_id] = member_id
        if old_id in self.pending_sync_members:
            self.pending_sync_members.remove(old_id)
            self.pending_sync_members.add(member_id)
        if self.leader_id == old_id:
            self.leader_id = member_id
        return member

    def is_pending(self, member_id: str) -> bool:
        """Whether the id was assigned and no member has joined with it yet."""
        return member_id in self.pending_members and member_id not in self.members

    def is_fenced(self, member_id: str, group_instance_id: str | None) -> bool:
        """Whether another member has taken over the instance id."""
        if group_instance_id is None:
            return False
        return self.static_members.get(group_instance_id, member_id) != member_id

    def is_leader(self, member_id: str) -> bool:
        """Whether the member is the leader, which computes the assignment."""
        return self.leader_id == member_id

    @property
    def rebalance_timeout_ms(self) -> int:
        """The largest rebalance timeout of the members."""
        return max((member.rebalance_timeout_ms for member in self.members.values()), default=0)

    # -- joining --------------------------------------------------------------------------------

    @property
    def awaiting_join_count(self) -> int:
        """The number of members whose JoinGroup is not answered yet."""
        return sum(member.is_awaiting_join for member in self.members.values())

    @property
    def has_all_members_joined(self) -> bool:
        """Whether all members and pending members have joined."""
        return not self.pending_members and self.awaiting_join_count == len(self.members)

    def elect_joined_leader(self) -> bool:
        """Make a joined member the leader; return False if none has joined."""
        if self.leader_id is None:
            return False
        if not self.members[self.leader_id].is_awaiting_join:
            candidates = (m.member_id for m in self.members.values() if m.is_awaiting_join)
            leader_id = next(candidates, None)
            if leader_id is None:
                return False
            self.leader_id = leader_id
        return True

    def await_join(self, member: Member, protocols: Protocols, reply: JoinReply) -> None:
        """Store a member's protocols and the callback of its JoinGroup; refuse an earlier one."""
        self.answer_join(member, JoinResult(error=ErrorCode.REBALANCE_IN_PROGRESS))
        member.protocols = protocols
        member.join_reply = reply

    def await_sync(self, member: Member, reply: SyncReply) -> None:
        """Store the callback of a member's SyncGroup; refuse an earlier one."""
        self.answer_sync(member, SyncResult(error=ErrorCode.REBALANCE_IN_PROGRESS))
        member.sync_reply = reply

    @staticmethod
    def answer_join(member: Member, result: JoinResult) -> None:
        """Answer a member's JoinGroup, if one is waiting."""
        reply, member.join_reply = member.join_reply, None
        if reply is not None:
            reply(result)

    @staticmethod
    def answer_sync(member: Member, result: SyncResult) -> bool:
        """Answer a member's SyncGroup, if one is waiting; return whether it was."""
        reply, member.sync_reply = member.sync_reply, None
        if reply is not None:
            reply(result)
        return reply is not None

    # -- protocols ------------------------------------------------------------------------------

    def supports(self, protocol_type: str, names: Iterable[str]) -> bool:
        """Whether a member with these protocols may join the group."""
        if self.state is GroupState.EMPTY:
            return bool(protocol_type) and any(True for _ in names)
        return protocol_type == self.protocol_type and not self._common_protocols().isdisjoint(
            names
        )

    def select_protocol(self) -> str:
        """Return the protocol with the most votes among those that all members support."""
        candidates = self._common_protocols()
        votes = Counter(member.vote(candidates) for member in self.members.values())
        return votes.most_common(1)[0][0]

    def _common_protocols(self) -> set[str]:
        supporters = Counter(
            name for member in self.members.values() for name, _ in member.protocols
        )
        return {name for name, count in supporters.items() if count == len(self.members)}

    def joined_members(self) -> tuple[JoinedMember, ...]:
        """Return the members as the leader gets them."""
        name = self.protocol_name
        assert name is not None, "members have joined a generation"
        return tuple(
            JoinedMember(member.member_id, member.group_instance_id, member.metadata(name))
            for member in self.members.values()
        )

    # -- offsets --------------------------------------------------------------------------------

    def expiry(self, now_ms: int, retention_ms: int) -> Expiry | None:
        """Return the rule by which the group's offsets expire now; None if they do not.

        Kafka's rules (KIP-211, ``GroupMetadata.removeExpiredOffsets``, since 4.0
        ``ClassicGroup.offsetExpirationCondition``):

        | group                                   | offsets expire                               |
        |-----------------------------------------|----------------------------------------------|
        | stores offsets only (no protocol type)  | by the time of each commit                   |
        | Empty                                   | by when it became empty, or by the time of a |
        |                                         | later commit                                 |
        | consumer group, Stable, topics known    | by the time of each commit, if the topic is  |
        |                                         | not subscribed to                            |
        | any other, or in any other state        | not at all                                   |

        The subscribed topics are those of the present members in Stable only: while members
        join an empty group, they are still those of the empty generation (KAFKA-13636).
        """
        if self.protocol_type is None:
            return Expiry(now_ms=now_ms, retention_ms=retention_ms)
        if self.state is GroupState.EMPTY:
            return Expiry(now_ms=now_ms, retention_ms=retention_ms, base_ms=self.state_timestamp_ms)
        if (
            self.state is GroupState.STABLE
            and self.protocol_type == CONSUMER
            and self.subscribed_topics is not None
        ):
            return Expiry(
                now_ms=now_ms, retention_ms=retention_ms, subscribed_topics=self.subscribed_topics
            )
        return None

    def is_subscribed(self, topic: str) -> bool:
        """Whether members may be subscribed to the topic.

        While the members of a new generation join, their subscriptions are unknown.
        """
        return (
            self.subscribed_topics is None
            or topic in self.subscribed_topics
            or self.state is GroupState.PREPARING_REBALANCE
        )
