"""A coordinator of groups, what is asked of it, and what it has answered."""

from collections.abc import Mapping
from itertools import count
from typing import Any

from ballast.broker.groups.group_purgatories import GroupPurgatories
from ballast.coordinator.coordinator import GroupCoordinator
from ballast.coordinator.group import Group
from ballast.coordinator.ports import GroupOptions
from ballast.coordinator.requests import (
    CommitRequest,
    CommittedOffset,
    JoinRequest,
    JoinResult,
    MemberReference,
    SyncRequest,
    SyncResult,
)
from ballast.coordinator.states import GroupState
from ballast.model.ids import TopicPartition
from ballast.protocol.error_codes import ErrorCode
from tests.fakes.group_ports import EPOCH_MS, FakeJournal, ManualTimer

GROUP = "group"
SESSION_MS = 10_000
REBALANCE_MS = 5_000
DELAY_MS = 300
P0 = TopicPartition("orders", 0)
P1 = TopicPartition("orders", 1)

RANGE = (("range", b"range-metadata"),)
BOTH = (("range", b"range-metadata"), ("roundrobin", b"rr-metadata"))

Joined = list[JoinResult]
Synced = list[SyncResult]


def offset(number: int, **fields: Any) -> CommittedOffset:
    return CommittedOffset(**{"offset": number, "commit_timestamp_ms": EPOCH_MS, **fields})


class Harness:
    """One coordinator of partition 0, with time in the test's hand."""

    def __init__(self, **options: int) -> None:
        self.timer = ManualTimer()
        self.journal = FakeJournal()
        ids = count(1)
        self.coordinator = GroupCoordinator(
            GroupOptions(**{"initial_rebalance_delay_ms": DELAY_MS, **options}),
            delays=GroupPurgatories(self.timer),
            journal=self.journal,
            partition_for=lambda group_id: 1 if group_id.startswith("elsewhere") else 0,
            clock_ms=self.timer.clock_ms,
            new_id=lambda: f"id{next(ids)}",
        )
        self.coordinator.begin_loading(0)
        self.coordinator.finish_loading(0, [])

    # -- what is asked --------------------------------------------------------------------------

    def join(self, member_id: str = "", **fields: Any) -> Joined:
        """Join; what is returned fills when it is answered."""
        answers: Joined = []
        request = {
            "group_id": GROUP,
            "member_id": member_id,
            "group_instance_id": None,
            "requires_known_member_id": False,
            "client_id": "client",
            "client_host": "/host",
            "rebalance_timeout_ms": REBALANCE_MS,
            "session_timeout_ms": SESSION_MS,
            "protocol_type": "consumer",
            "protocols": RANGE,
        }
        self.coordinator.join(JoinRequest(**{**request, **fields}), answers.append)
        return answers

    def sync(self, joined: JoinResult, assignments: Mapping[str, bytes] | None = None) -> Synced:
        """Ask, as a member that has joined; the leader brings assignments."""
        return self.sync_as(
            MemberReference(member_id=joined.member_id, generation_id=joined.generation_id),
            protocol_type=joined.protocol_type,
            protocol_name=joined.protocol_name,
            assignments=assignments or {},
        )

    def sync_as(self, member: MemberReference, **fields: Any) -> Synced:
        answers: Synced = []
        request = {
            "group_id": GROUP,
            "member": member,
            "protocol_type": None,
            "protocol_name": None,
            "assignments": {},
        }
        self.coordinator.sync(SyncRequest(**{**request, **fields}), answers.append)
        return answers

    def heartbeat(self, member_id: str, generation_id: int, **fields: Any) -> ErrorCode:
        identity = MemberReference(member_id=member_id, generation_id=generation_id, **fields)
        return self.coordinator.heartbeat(GROUP, identity)

    def leave(self, member_id: str, group_instance_id: str | None = None) -> ErrorCode:
        identity = MemberReference(member_id=member_id, group_instance_id=group_instance_id)
        error, outcomes = self.coordinator.leave(GROUP, [identity])
        return error or outcomes[0]

    def commit(
        self,
        offsets: Mapping[TopicPartition, CommittedOffset],
        member_id: str = "",
        generation_id: int = -1,
        **fields: Any,
    ) -> list[Mapping[TopicPartition, ErrorCode]]:
        answers: list[Mapping[TopicPartition, ErrorCode]] = []
        member = MemberReference(member_id=member_id, generation_id=generation_id, **fields)
        request = CommitRequest(group_id=GROUP, member=member, offsets=offsets)
        self.coordinator.commit(request, answers.append)
        return answers

    def advance(self, milliseconds: int) -> None:
        self.timer.advance(milliseconds)

    # -- what there is --------------------------------------------------------------------------

    @property
    def group(self) -> Group:
        group = self.coordinator.group(GROUP)
        assert group is not None
        return group

    def state(self) -> GroupState:
        return self.group.state

    def stable(self, size: int = 1, **fields: Any) -> list[JoinResult]:
        """Return the members, the leader first, of a group that has its assignment."""
        waiting = [self.join(**{**fields, **_instance(fields, n)}) for n in range(size)]
        self.advance(REBALANCE_MS)
        members = sorted(
            (answers[-1] for answers in waiting), key=lambda joined: not joined.members
        )
        assignments = {joined.member_id: b"to " + joined.member_id.encode() for joined in members}
        answers = [self.sync(joined, assignments if joined.members else {}) for joined in members]
        assert [one.error for (one,) in answers] == [ErrorCode.NONE] * size
        assert self.state() is GroupState.STABLE
        return members


def _instance(fields: Mapping[str, Any], number: int) -> dict[str, str]:
    return {"group_instance_id": f"instance-{number}"} if "group_instance_id" in fields else {}
