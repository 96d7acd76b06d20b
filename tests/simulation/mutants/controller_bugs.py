"""Bugs of elections, deletions, reassignments, and of the fence round all of them."""

from collections.abc import Collection, Mapping, Sequence
from typing import Any

import pytest

from ballast.controller.brokers.brokers import BrokerLifecycle
from ballast.controller.brokers.isr_changes import IsrChanges
from ballast.controller.brokers.strays import Strays
from ballast.controller.leaders.leader_rebalance import LeaderRebalance
from ballast.controller.machines import partition_states, replica_states
from ballast.controller.machines.elections import ElectionResult
from ballast.controller.machines.leader_and_isr_updater import LeaderAndIsrUpdater
from ballast.controller.machines.partition_states import PartitionStateMachine
from ballast.controller.machines.topic_deletion import TopicDeletionManager
from ballast.controller.reassignment.reassignment import Assignments, Reassignment
from ballast.controller.reassignment.requests import ReassignmentRequests
from ballast.controller.state.context import ControllerContext
from ballast.controller.topics.topics import Topics
from ballast.model.ids import NO_LEADER, TopicPartition
from ballast.model.leadership import LeaderAndIsr
from ballast.reassign.decision import decide
from ballast.reassign.decision import throttle_plan as throttling_module
from ballast.reassign.decision.throttle_plan import ThrottleChange, Throttling
from ballast.reassign.state.persisted_state import PersistedState
from ballast.zk.client import Operation
from ballast.zk.controller_store.fencing import FencedWriter
from ballast.zk.election import Election
from tests.simulation.mutants.mutant import Crashes, Mutant, Seeds, Test

BROKERS = "tests/unit/controller/brokers/"
LEADERS = "tests/unit/controller/leaders/"
MACHINES = "tests/unit/controller/machines/"
REASSIGNMENT = "tests/unit/controller/reassignment/"
UNIT = "tests/unit/controller/"


def controller_writes_without_the_epoch_check(patch: pytest.MonkeyPatch) -> None:
    # A deposed controller goes on writing.

    async def unfenced(writer: FencedWriter, operations: Sequence[Operation]) -> Any:
        return await writer._client.multi(operations)

    patch.setattr(FencedWriter, "multi", unfenced)


def election_raises_the_epoch_apart(patch: pytest.MonkeyPatch) -> None:
    # /controller is made in one transaction and the epoch raised in the next.

    class OneByOne:
        def __init__(self, client: Any) -> None:
            self._client = client

        def __getattr__(self, name: str) -> Any:
            return getattr(self._client, name)

        async def multi(self, operations: Sequence[Operation]) -> list[Any]:
            return [(await self._client.multi((operation,)))[0] for operation in operations]

    one_round = Election._one_round

    async def apart(election: Election) -> Any:
        client = election._client
        patch.setattr(election, "_client", OneByOne(client))
        try:
            return await one_round(election)
        finally:
            patch.setattr(election, "_client", client)

    patch.setattr(Election, "_one_round", apart)


def leader_epoch_is_not_raised(patch: pytest.MonkeyPatch) -> None:
    # A new leader begins in the epoch of the old one.
    to_replace = LeaderAndIsr.to_replace

    def same_epoch(decided: LeaderAndIsr, stored: LeaderAndIsr, epoch: int) -> LeaderAndIsr:
        changed = to_replace(decided, stored, epoch)
        return LeaderAndIsr(
            leader=changed.leader,
            leader_epoch=stored.leader_epoch,
            isr=changed.isr,
            controller_epoch=changed.controller_epoch,
            zk_version=changed.zk_version,
        )

    patch.setattr(LeaderAndIsr, "to_replace", same_epoch)


def leaders_are_told_before_live_brokers(patch: pytest.MonkeyPatch) -> None:
    # At failover brokers get leaders before live brokers.

    def silently(brokers: BrokerLifecycle) -> None:
        for broker_id in brokers._context.live_or_shutting_down:
            brokers._channels.add_broker(brokers._context.brokers[broker_id])

    patch.setattr(BrokerLifecycle, "open_channels", silently)


def intent_is_not_stored(patch: pytest.MonkeyPatch) -> None:
    # U1 is left out: a reassignment is known to this controller alone.

    async def forgotten(_: Reassignment, assignments: Assignments) -> Assignments:
        return assignments

    patch.setattr(Reassignment, "_store_intent", forgotten)


def topic_is_settled_before_the_old_replicas_left(patch: pytest.MonkeyPatch) -> None:
    # B6 before B4: a controller that dies in between forgets which replicas are to go.
    take_removed_offline = Reassignment._take_removed_offline

    async def settle_first(reassignment: Reassignment, complete: Any) -> Any:
        await reassignment._store_target(complete)
        return await take_removed_offline(reassignment, complete)

    patch.setattr(Reassignment, "_take_removed_offline", settle_first)


def old_replicas_go_before_the_new_are_in_sync(patch: pytest.MonkeyPatch) -> None:
    # Phase B does not wait for phase A.

    async def all_complete(_: Reassignment, assignments: Assignments) -> Any:
        return assignments, {}

    patch.setattr(Reassignment, "_split_by_completeness", all_complete)


def dropped_replicas_are_not_stopped(patch: pytest.MonkeyPatch) -> None:
    # U3 is left out: what an override or a cancel drops goes on.

    async def kept(_: Reassignment, dropped: Any) -> None:
        del dropped

    patch.setattr(Reassignment, "_stop_dropped", kept)


def strays_of_dead_brokers_are_forgotten(patch: pytest.MonkeyPatch) -> None:
    # A replica that was removed while its broker was down stays on its disk for good.

    async def forgotten(_: Strays, broker_ids: Collection[int]) -> None:
        del broker_ids

    patch.setattr(Strays, "on_broker_startup", forgotten)


def cancel_drops_the_only_replicas_in_sync(patch: pytest.MonkeyPatch) -> None:
    # Nobody asks what is in sync among the replicas that are left.

    async def unasked(_: ReassignmentRequests, accepted: Any, answers: Any) -> None:
        del accepted, answers

    patch.setattr(ReassignmentRequests, "_refuse_losses", unasked)


def unknown_topic_blocks_the_znode(patch: pytest.MonkeyPatch) -> None:
    # One bad entry of /admin/reassign_partitions, and no other is looked at.
    build = ReassignmentRequests._build

    async def all_or_none(requests: ReassignmentRequests, targets: Any, answers: Any) -> Any:
        accepted = await build(requests, targets, answers)
        return accepted if len(accepted) == len(targets) else {}

    patch.setattr(ReassignmentRequests, "_build", all_or_none)


def legacy_entry_goes_with_any_completion(patch: pytest.MonkeyPatch) -> None:
    # The whole znode is deleted when the first of its partitions is done.

    async def all_of_it(reassignment: Reassignment, complete: Assignments) -> None:
        if complete:
            await reassignment._store.write_reassignments({})

    patch.setattr(Reassignment, "_forget_legacy_requests", all_of_it)


def isr_is_taken_from_memory(patch: pytest.MonkeyPatch) -> None:
    # The notification is believed to be the news; the state is not read again.

    async def remembered(updater: Any, partitions: Collection[TopicPartition]) -> Any:
        known = updater._context.leadership
        return {tp: known[tp] for tp in partitions if tp in known}

    patch.setattr(LeaderAndIsrUpdater, "read", remembered)


def isr_notifications_go_first(patch: pytest.MonkeyPatch) -> None:
    # Notifications are deleted before anybody has been told.
    on_notification = IsrChanges.on_notification

    async def delete_first(changes: IsrChanges) -> None:
        notifications = await changes._store.read_isr_notifications()
        if notifications:
            await changes._store.delete_isr_notifications(sorted(notifications))
        await on_notification(changes)

    patch.setattr(IsrChanges, "on_notification", delete_first)


def everyone_may_lead(patch: pytest.MonkeyPatch) -> None:
    # Unclean elections are held whether they are allowed or not.

    async def everywhere(_: PartitionStateMachine, partitions: Any) -> Any:
        return sorted(partitions)

    patch.setattr(PartitionStateMachine, "_where_unclean_is_allowed", everywhere)


def preferred_replica_leads_out_of_sync(patch: pytest.MonkeyPatch) -> None:
    # The first replica is elected without a look at the ISR.

    def first(replicas: Sequence[int], isr: Sequence[int], live: Collection[int]) -> Any:
        return ElectionResult(leader=replicas[0], isr=tuple(isr)) if replicas[0] in live else None

    patch.setattr(partition_states, "elect_preferred", first)


def last_isr_member_is_dropped(patch: pytest.MonkeyPatch) -> None:
    # An ISR becomes empty when its last member goes offline.

    def without(broker_id: int, required: Mapping[TopicPartition, tuple[int, ...]]) -> Any:
        del required

        def decide_(_: TopicPartition, stored: LeaderAndIsr) -> LeaderAndIsr | None:
            if broker_id not in stored.isr:
                return None
            remaining = tuple(replica for replica in stored.isr if replica != broker_id)
            return stored.led_by(
                NO_LEADER if stored.leader == broker_id else stored.leader, remaining
            )

        return decide_

    patch.setattr(replica_states, "_without", without)


def deletion_does_not_wait_for_moves(patch: pytest.MonkeyPatch) -> None:
    # A topic is deleted in the middle of a reassignment.
    patch.setattr(TopicDeletionManager, "hold", lambda *_: None)


def deleted_topics_are_led(patch: pytest.MonkeyPatch) -> None:
    # LeaderAndIsr is sent for a topic whose replicas are being deleted.
    patch.setattr(ControllerContext, "being_deleted", frozenset())


def deleted_topics_grow(patch: pytest.MonkeyPatch) -> None:
    # Partitions that are added to a topic in its deletion are led.
    on_modifications = Topics.on_partition_modifications

    async def growing(topics: Topics, event: Any) -> None:
        queued = topics._context.queued_for_deletion
        with pytest.MonkeyPatch.context() as local:
            local.setattr(topics._context, "queued_for_deletion", set())
            await on_modifications(topics, event)
        assert topics._context.queued_for_deletion is queued

    patch.setattr(Topics, "on_partition_modifications", growing)


def deletion_forgets_dead_brokers(patch: pytest.MonkeyPatch) -> None:
    # A topic is gone although a broker that was down still holds it.
    patch.setattr(TopicDeletionManager, "_is_reachable", lambda *_: True)


def shutting_down_brokers_are_elected(patch: pytest.MonkeyPatch) -> None:
    # A broker that is about to stop counts as one that stays.

    def registered(
        context: ControllerContext, topic_partition: TopicPartition, replicas: Sequence[int]
    ) -> list[int]:
        del topic_partition
        return [replica for replica in replicas if replica in context.brokers]

    patch.setattr(ControllerContext, "online_among", registered)


def any_move_stops_the_rebalance(patch: pytest.MonkeyPatch) -> None:
    # No leadership is given back while anything moves anywhere.
    electable = LeaderRebalance._is_electable

    def only_when_quiet(rebalance: LeaderRebalance, topic_partition: TopicPartition) -> bool:
        quiet = not rebalance._context.being_reassigned
        return quiet and electable(rebalance, topic_partition)

    patch.setattr(LeaderRebalance, "_is_electable", only_when_quiet)


def dead_brokers_are_taken_for_removed(patch: pytest.MonkeyPatch) -> None:
    # Deletion waits for no broker, and brokers return with deleted replicas.
    patch.setattr(TopicDeletionManager, "_is_removed", lambda self, r: not self._is_reachable(r))


def throttle_is_left_behind(patch: pytest.MonkeyPatch) -> None:
    # The reconciler knows how to set a throttle, and not that it has to be taken away.

    def only_to_set(state: PersistedState, throttling: Throttling, *rest: Any, **more: Any) -> Any:
        if throttling.bytes_per_second is None:
            return ThrottleChange()
        return throttling_module.throttle_change(state, throttling, *rest, **more)

    patch.setattr(decide, "throttle_change", only_to_set)


def rules(*names: str) -> frozenset[str]:
    return frozenset(names)


MUTANTS = (
    Mutant(controller_writes_without_the_epoch_check, Seeds(rules("C1")), "KAFKA-6082"),
    Mutant(election_raises_the_epoch_apart, Seeds(rules("C2")), "KAFKA-6082"),
    Mutant(leader_epoch_is_not_raised, Seeds(rules("C3", "C4"))),
    Mutant(
        leaders_are_told_before_live_brokers,
        Test(f"{UNIT}test_failover.py::test_brokers_hear_who_lives_before_who_leads"),
        "KAFKA-4443",
    ),
    Mutant(intent_is_not_stored, Crashes("move"), "KAFKA-9089"),
    Mutant(topic_is_settled_before_the_old_replicas_left, Crashes("move")),
    Mutant(old_replicas_go_before_the_new_are_in_sync, Crashes("move")),
    Mutant(dropped_replicas_are_not_stopped, Crashes("cancel in sync")),
    Mutant(
        strays_of_dead_brokers_are_forgotten,
        Test(
            f"{BROKERS}test_strays.py::test_a_broker_that_comes_back_deletes_what_was_taken_from_it"
        ),
        "KAFKA-13972",
    ),
    Mutant(
        cancel_drops_the_only_replicas_in_sync,
        Test(
            f"{REASSIGNMENT}test_requests.py::test_a_cancel_that_would_lose_the_in_sync_replicas_is_refused"
        ),
        "KAFKA-14424",
    ),
    Mutant(
        unknown_topic_blocks_the_znode,
        Test(f"{REASSIGNMENT}test_reassignment_questions.py::test_a_znode_made_by_hand"),
        "KAFKA-2234",
    ),
    Mutant(
        legacy_entry_goes_with_any_completion,
        Test(
            f"{REASSIGNMENT}test_requests.py::test_only_an_entry_equal_to_the_target_is_removed_at_completion"
        ),
        "KAFKA-6193",
    ),
    Mutant(
        isr_is_taken_from_memory,
        Test(f"{BROKERS}test_isr_changes.py::test_every_broker_learns_the_isr_as_it_is_now"),
        "KAFKA-5502",
    ),
    Mutant(
        isr_notifications_go_first,
        Test(f"{BROKERS}test_isr_changes.py::test_a_crash_leaves_the_notification"),
    ),
    Mutant(everyone_may_lead, Seeds(rules("C4", "P3"))),
    Mutant(
        preferred_replica_leads_out_of_sync,
        Test(f"{LEADERS}test_election_requests.py::test_preferred_leader_that_is_not_in_sync"),
    ),
    Mutant(last_isr_member_is_dropped, Crashes("two brokers lost")),
    Mutant(
        deletion_does_not_wait_for_moves,
        Test(
            f"{MACHINES}test_topic_deletion.py::test_it_begins_when_the_last_move_of_the_topic_has_ended"
        ),
        "KAFKA-8249",
    ),
    Mutant(
        deleted_topics_are_led,
        Test(f"{MACHINES}test_replica_states.py::test_topics_to_be_deleted_are_not_led"),
        "KAFKA-13342",
    ),
    Mutant(
        deleted_topics_grow,
        Test(f"{UNIT}topics/test_topics.py::test_a_topic_to_be_deleted_does_not_grow"),
        "KAFKA-6612",
    ),
    Mutant(
        deletion_forgets_dead_brokers,
        Test(f"{MACHINES}test_topic_deletion.py::test_it_waits_for_a_dead_broker"),
        "KAFKA-6650",
    ),
    Mutant(
        shutting_down_brokers_are_elected,
        Test(f"{BROKERS}test_controlled_shutdown.py::test_nobody_who_leaves_is_elected_anew"),
    ),
    Mutant(
        any_move_stops_the_rebalance,
        Test(f"{LEADERS}test_leader_rebalance.py::test_a_move_elsewhere_holds_nothing_up"),
        "KAFKA-10149",
    ),
    Mutant(
        dead_brokers_are_taken_for_removed,
        Test(f"{MACHINES}test_topic_deletion.py::test_it_waits_for_a_dead_broker"),
    ),
    Mutant(throttle_is_left_behind, Seeds(rules("R10"))),
)
