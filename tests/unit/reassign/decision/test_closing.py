"""How a reassignment ends, and how it lets others pass, decided from small worlds."""

from dataclasses import replace

import pytest

from ballast.reassign.decision.decide import decide
from ballast.reassign.decision.decision_input import Hints, Observed
from ballast.reassign.decision.steps import (
    CancelActive,
    ElectPreferred,
    Finish,
    RestoreThrottle,
    SaveMemory,
    Wait,
)
from ballast.reassign.ports import RequestError
from ballast.reassign.spec.spec import DesiredState
from ballast.reassign.state.conditions import LifecycleState
from ballast.reassign.state.persisted_state import Flaw, Intent
from ballast.reassign.state.queueing import QueuePlace
from ballast.reassign.throttle.throttle_values import TOPIC_THROTTLES, rate_values
from tests.unit.reassign.decision.test_decide import DONE, FORWARD, KNOWING, MOVED_ON, THROTTLED
from tests.unit.reassign.worlds import T0, T1, memory, observed, partition, spec, world

PAUSED, CANCELLED = DesiredState.PAUSED, DesiredState.CANCELLED
ROLLED_BACK = DesiredState.ROLLED_BACK


class TestClosing:
    def test_throttles_then_leaders_then_the_end(self) -> None:
        """An election may be refused for ever: brokers must not stay slow behind it."""
        led_by_another = observed(DONE[0], partition(T1, 4, 2, leader=2))
        throttled = replace(THROTTLED, cluster=led_by_another.cluster)
        wanted = spec(rate=1000)
        restore = decide(world(throttled, wanted=wanted, remembered=KNOWING))
        assert isinstance(restore, RestoreThrottle)
        assert restore.change.topics == {"t": dict.fromkeys(TOPIC_THROTTLES)}
        sent = Hints(restore_sent=True)
        elect = decide(world(led_by_another, wanted=wanted, remembered=KNOWING, hints=sent))
        assert elect == ElectPreferred(partitions=(T1,))
        end = decide(world(observed(*DONE), wanted=wanted, remembered=KNOWING, hints=sent))
        assert end == Finish(outcome=LifecycleState.COMPLETED)

    def test_values_are_put_back_even_if_brokers_show_them_so_already(self) -> None:
        """A broker shows a throttle some time after it took it: it must not be left behind."""
        step = decide(world(observed(*DONE), wanted=spec(rate=1000), remembered=KNOWING))
        assert isinstance(step, RestoreThrottle)
        assert set(step.change.brokers) == {1, 2, 3, 4}

    def test_a_throttle_that_cannot_be_restored_holds_up_the_end(self) -> None:
        """What is put back is forgotten first: others may begin, and change it."""
        seen = observed(*DONE, live=(1, 2, 4))
        hints = Hints(restore_sent=True)
        save = decide(world(seen, wanted=spec(rate=1000), remembered=KNOWING, hints=hints))
        owing = replace(
            KNOWING,
            closing=LifecycleState.COMPLETED,
            topic_throttles={},
            broker_throttles={3: KNOWING.broker_throttles[3]},
        )
        assert save == SaveMemory(memory=owing)
        step = decide(world(seen, wanted=spec(rate=1000), remembered=owing, hints=hints))
        assert step == Wait(
            state=LifecycleState.VERIFYING,
            reason="ThrottleDebt",
            message="throttle not restored: broker 3",
        )
        back = observed(*DONE, broker_configs={3: rate_values(1000)})
        paid = decide(world(back, wanted=spec(rate=1000), remembered=owing, hints=hints))
        assert isinstance(paid, RestoreThrottle)
        assert paid.change.brokers == {3: dict.fromkeys(rate_values(1))}

    def test_replicas_must_be_in_sync_for_a_while(self) -> None:
        seen = observed(partition(T0, 1, 4, isr=(1,)), DONE[1])
        save = decide(world(seen, remembered=memory()))
        closing = replace(memory(), closing=LifecycleState.COMPLETED)
        assert save == SaveMemory(memory=closing)
        step = decide(world(seen, remembered=closing))
        assert isinstance(step, Wait)
        assert (step.state, step.reason) == (LifecycleState.VERIFYING, "Verifying")
        end = decide(world(seen, remembered=closing, hints=Hints(stalled=True)))
        flaw = Flaw(reason="DegradedReplicas", message="t-0: not in sync: 4")
        assert end == Finish(outcome=LifecycleState.COMPLETED, flaw=flaw)

    def test_leaders_are_asked_for_so_often_and_then_named(self) -> None:
        seen = observed(DONE[0], partition(T1, 4, 2, leader=2))
        hints = Hints(not_electable={T1: "CLUSTER_AUTHORIZATION_FAILED no"})
        end = decide(world(seen, remembered=memory(), hints=hints))
        message = "t-1: CLUSTER_AUTHORIZATION_FAILED no"
        flaw = Flaw(reason="PreferredLeaderNotElected", message=message)
        assert end == Finish(outcome=LifecycleState.COMPLETED, flaw=flaw)

    @pytest.mark.parametrize(
        "seen",
        [
            observed(partition(T0, 1, 3), DONE[1]),
            observed(DONE[0], partition(T1, 2, 3, 4), pending={T1: MOVED_ON}),
        ],
        ids=["was", "is"],
    )
    def test_what_others_move_once_all_is_over_is_left_to_them(self, seen: Observed) -> None:
        """A drain that was let past: the plan that it passed must not undo its work."""
        closing = replace(memory(), closing=LifecycleState.COMPLETED)
        step = decide(world(seen, wanted=spec(rate=5), remembered=closing))
        assert step == Finish(outcome=LifecycleState.COMPLETED)

    def test_what_failed_is_remembered(self) -> None:
        closing = replace(memory(), closing=LifecycleState.FAILED)
        assert decide(world(remembered=closing)) == Finish(outcome=LifecycleState.FAILED)


class TestLettingOthersBegin:
    """Broker 4, to which all moves go, is down."""

    DOWN = observed(live=(1, 2, 3))
    HELD = replace(KNOWING, has_yielded=True, topic_throttles={}, broker_throttles={})
    BEHIND = QueuePlace(position=1, blocked_by=("drain",))

    def test_after_a_while_the_throttle_is_put_back_and_others_may_begin(self) -> None:
        wanted, idle = spec(rate=1000), Hints(idle=True)
        throttled = replace(THROTTLED, cluster=self.DOWN.cluster)
        held = decide(world(throttled, wanted=wanted, remembered=KNOWING))
        assert isinstance(held, Wait)
        assert held.reason == "TargetBrokerOffline"
        yielding = replace(KNOWING, has_yielded=True)
        save = decide(world(throttled, wanted=wanted, remembered=KNOWING, hints=idle))
        assert save == SaveMemory(memory=yielding)
        restore = decide(world(throttled, wanted=wanted, remembered=yielding, hints=idle))
        assert isinstance(restore, RestoreThrottle)
        assert set(restore.change.brokers) == {1, 2, 3, 4}
        calm = replace(observed(), cluster=self.DOWN.cluster)
        sent = Hints(restore_sent=True)
        forgets = decide(world(calm, wanted=wanted, remembered=yielding, hints=sent))
        assert forgets == SaveMemory(memory=self.HELD)
        waits = decide(world(calm, wanted=wanted, remembered=self.HELD, hints=sent))
        assert isinstance(waits, Wait)
        assert (waits.state, waits.reason) == (LifecycleState.EXECUTING, "TargetBrokerOffline")

    def test_it_goes_on_when_it_can_and_has_its_turn(self) -> None:
        can = world(wanted=spec(rate=1000), remembered=self.HELD)
        behind = decide(replace(can, place=self.BEHIND))
        assert behind == Wait(state=LifecycleState.QUEUED, reason="Queued", message="behind drain")
        assert decide(can) == SaveMemory(memory=replace(self.HELD, has_yielded=False))

    def test_pausing_keeps_the_turn(self) -> None:
        step = decide(world(wanted=spec(PAUSED), remembered=memory(), hints=Hints(idle=True)))
        assert isinstance(step, Wait)
        assert step.state is LifecycleState.PAUSED

    def test_the_way_back_waits_for_the_turn_as_well(self) -> None:
        back = world(wanted=spec(ROLLED_BACK), remembered=self.HELD)
        step = decide(replace(back, place=self.BEHIND))
        assert isinstance(step, Wait)
        assert step.state is LifecycleState.QUEUED
        begins = replace(self.HELD, has_yielded=False, intent=Intent.ROLL_BACK)
        assert decide(back) == SaveMemory(memory=begins)


class TestCancelling:
    def test_a_refused_cancel_gives_the_throttle_back_then_is_reported(self) -> None:
        refused = Hints(cancels_refused={T0: RequestError(error="REFUSED", message="no")})
        cancelling = replace(KNOWING, intent=Intent.CANCEL)
        busy = replace(THROTTLED, pending={T0: FORWARD})
        wanted = spec(CANCELLED, rate=1000)
        first = decide(world(busy, wanted=wanted, remembered=cancelling))
        assert first == CancelActive(partitions=(T0,))
        restore = decide(world(busy, wanted=wanted, remembered=cancelling, hints=refused))
        assert isinstance(restore, RestoreThrottle)
        sent = replace(refused, restore_sent=True)
        calm = observed(pending={T0: FORWARD})
        closing = replace(memory(Intent.CANCEL), closing=LifecycleState.CANCELLED)
        save = decide(world(calm, wanted=wanted, remembered=cancelling, hints=sent))
        assert save == SaveMemory(memory=closing)
        waits = decide(world(calm, wanted=wanted, remembered=closing, hints=sent))
        assert waits == Wait(
            state=LifecycleState.CANCELLING, reason="CancelRefused", message="t-0: REFUSED no"
        )
        again = decide(world(calm, wanted=wanted, remembered=closing))
        assert again == CancelActive(partitions=(T0,))
        end = decide(world(wanted=wanted, remembered=closing))
        assert end == Finish(outcome=LifecycleState.CANCELLED)
