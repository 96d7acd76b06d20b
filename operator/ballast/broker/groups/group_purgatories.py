"""The delayed operations of groups (Kafka's rebalance and heartbeat purgatories).

| operation      | completed when                            | at the timeout                      |
|----------------|-------------------------------------------|-------------------------------------|
| join           | all members have joined                   | the generation begins without them  |
| initial join   | never                                     | waits for more members, or begins   |
| sync           | all members of the generation have synced | the others are removed              |
| heartbeat      | a heartbeat arrives, or the member leaves | the member is removed               |
| pending member | a request with the assigned id arrives    | the id is forgotten                 |

All of them are completed without effect when their group is dead.
"""

from collections.abc import Callable
from functools import partial
from typing import Final

from ballast.broker.replicas.purgatory_timer import PurgatoryTimer
from ballast.coordinator.group import Group
from ballast.coordinator.member import Member
from ballast.coordinator.states import GroupState
from ballast.purgatory.operation import DelayedOperation
from ballast.purgatory.purgatory import Purgatory
from ballast.purgatory.shares import WaitShares

MAX_MEMBERS: Final = 1_000_000
"""Members and assigned ids of all groups of a broker, above which an address may only have its
share: members have no connection, and outlive that of their client.
"""


class GroupPurgatories:
    """Holds the delayed operations of groups (`ballast.coordinator.ports.DelayedOperations`)."""

    def __init__(self, timer: PurgatoryTimer, max_members: int = MAX_MEMBERS) -> None:
        """Make it; above ``max_members`` an address with more than its share is refused."""
        self._members = WaitShares(max_members)
        self._timer = timer
        self.joins: Purgatory[str] = self._timer.purgatory()
        self.syncs: Purgatory[str] = self._timer.purgatory()
        self.heartbeats: Purgatory[tuple[str, str]] = self._timer.purgatory()

    def expect_members(self, group: Group, timeout_ms: int, done: Callable[[], None]) -> None:
        """Wait for all members to join."""
        self._wait_for_members(_DelayedJoin(group, timeout_ms, done))

    def gather_members(self, group: Group, delay_ms: int, done: Callable[[], None]) -> None:
        """Wait for more members of a new group."""
        self._wait_for_members(_InitialDelayedJoin(group, delay_ms, done))

    def _wait_for_members(self, operation: "_OfGroup") -> None:
        key = operation.group.group_id
        self.joins.try_complete_else_watch(operation, (key,), self._timer.now())

    def members_changed(self, group: Group) -> None:
        """Check whether all members have joined."""
        self.joins.check_and_complete(group.group_id)

    def expect_syncs(self, group: Group, timeout_ms: int, expired: Callable[[], None]) -> None:
        """Wait for the members of the present generation to sync."""
        operation = _DelayedSync(group, timeout_ms, expired)
        self.syncs.try_complete_else_watch(operation, (group.group_id,), self._timer.now())

    def syncs_changed(self, group: Group) -> None:
        """Check whether all members have synced."""
        self.syncs.check_and_complete(group.group_id)

    def expect_heartbeat(
        self, group: Group, member: Member, timeout_ms: int, expired: Callable[[], None]
    ) -> None:
        """Wait for a heartbeat of the member."""
        operation = _DelayedHeartbeat(group, member, timeout_ms, expired)
        self._wait_for_member(operation, member.member_id, member.client_host)

    def expect_pending_member(
        self,
        group: Group,
        member_id: str,
        client_host: str,
        timeout_ms: int,
        expired: Callable[[], None],
    ) -> None:
        """Wait for a request with an id that was assigned."""
        operation = _DelayedPendingMember(group, member_id, timeout_ms, expired)
        self._wait_for_member(operation, member_id, client_host)

    def _wait_for_member(self, operation: "_OfMember", member_id: str, client_host: str) -> None:
        holder = client_host, 0
        if not self._members.begin(holder):
            operation.expire()
            return
        operation.when_over = partial(self._members.end, holder)
        key = operation.group.group_id, member_id
        self.heartbeats.try_complete_else_watch(operation, (key,), self._timer.now())

    def member_changed(self, group: Group, member_id: str) -> None:
        """Check whether the member has sent a heartbeat, has left or has joined."""
        self.heartbeats.check_and_complete((group.group_id, member_id))

    def shut_down(self) -> None:
        """End every wait; all groups are dead already."""
        self._timer.shut_down()


class _OfGroup(DelayedOperation):
    """A wait that ends with its group; ``call`` is its effect."""

    def __init__(self, group: Group, timeout_ms: int, call: Callable[[], None]) -> None:
        super().__init__(timeout_ms)
        self.group = group
        self._call = call

    def call_unless_dead(self) -> None:
        if not self.group.is_dead:
            self._call()


class _DelayedJoin(_OfGroup):
    def try_complete(self) -> bool:
        done = self.group.is_dead or self.group.has_all_members_joined
        return done and self.force_complete()

    def on_complete(self) -> None:
        self.call_unless_dead()


class _InitialDelayedJoin(_OfGroup):
    def try_complete(self) -> bool:
        return self.group.is_dead and self.force_complete()

    def on_complete(self) -> None:
        self.call_unless_dead()


class _Expiring(_OfGroup):
    """A wait that has an effect only at its timeout."""

    def on_complete(self) -> None:
        """Do nothing: the expected event has happened."""

    def on_expiration(self) -> None:
        self.call_unless_dead()


class _DelayedSync(_Expiring):
    def __init__(self, group: Group, timeout_ms: int, expired: Callable[[], None]) -> None:
        super().__init__(group, timeout_ms, expired)
        self._generation_id = group.generation_id

    def try_complete(self) -> bool:
        return not self._is_awaited() and self.force_complete()

    def on_expiration(self) -> None:
        if self._is_awaited():
            self.call_unless_dead()

    def _is_awaited(self) -> bool:
        group = self.group
        return (
            group.generation_id == self._generation_id
            and group.state in (GroupState.COMPLETING_REBALANCE, GroupState.STABLE)
            and bool(group.pending_sync_members)
        )


class _OfMember(_Expiring):
    """A wait that counts in the share of a member's address."""

    when_over: Callable[[], None] | None = None

    def on_complete(self) -> None:
        if self.when_over is not None:
            self.when_over()


class _DelayedHeartbeat(_OfMember):
    def __init__(
        self, group: Group, member: Member, timeout_ms: int, expired: Callable[[], None]
    ) -> None:
        super().__init__(group, timeout_ms, expired)
        self._member = member
        self._member_id = member.member_id

    def try_complete(self) -> bool:
        done = self.group.is_dead or not self._is_member() or self._is_heard_of()
        return done and self.force_complete()

    def on_expiration(self) -> None:
        if self._is_member() and not self._member.has_satisfied_heartbeat:
            self.call_unless_dead()

    def _is_member(self) -> bool:
        # A static member that joined again under a new id has a wait for that id.
        return self.group.members.get(self._member_id) is self._member

    def _is_heard_of(self) -> bool:
        return self._member.has_satisfied_heartbeat or self._member.is_leaving


class _DelayedPendingMember(_OfMember):
    def __init__(
        self, group: Group, member_id: str, timeout_ms: int, expired: Callable[[], None]
    ) -> None:
        super().__init__(group, timeout_ms, expired)
        self._member_id = member_id

    def try_complete(self) -> bool:
        done = self.group.is_dead or not self.group.is_pending(self._member_id)
        return done and self.force_complete()
