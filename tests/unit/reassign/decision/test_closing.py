"""How a reassignment ends, and how it lets others begin."""

from dataclasses import replace

import pytest

from ballast.reassign.decision.decide import decide
from ballast.reassign.decision.decision_input import Observation, TransientState
from ballast.reassign.decision.steps import (
    CancelActive,
    ElectPreferred,
    Finish,
    RestoreThrottle,
    SaveState,
    Wait,
)
from ballast.reassign.ports import RequestError
from ballast.reassign.spec.spec import DesiredState
from ballast.reassign.state.conditions import LifecycleState
from ballast.reassign.state.persisted_state import Flaw, Intent
from ballast.reassign.state.queueing import QueuePlace
from ballast.reassign.throttle.throttle_values import TOPIC_THROTTLES, rate_values
from tests.unit.reassign.builders import (
    T0,
    T1,
    decision_input,
    observation,
    partition,
    persisted_state,
    spec,
)
from tests.unit.reassign.decision.test_decide import DONE, FORWARD, KNOWING, MOVED_ON, THROTTLED

PAUSED, CANCELLED = DesiredState.PAUSED, DesiredState.CANCELLED
ROLLED_BACK = DesiredState.ROLLED_BACK


class TestClosing:
    def test_throttles_then_leaders_then_the_end(self) -> None:
        """An election may be refused without end: brokers must not stay throttled."""
        led_by_another = observation(DONE[0], partition(T1, 4, 2, leader=2))
        throttled = replace(THROTTLED, cluster=led_by_another.cluster)
        wanted = spec(rate=1000)
        restore = decide(decision_input(throttled, wanted=wanted, state=KNOWING))
        assert isinstance(restore, RestoreThrottle)
        assert restore.change.topics == {"t": dict.fromkeys(TOPIC_THROTTLES)}
        sent = TransientState(is_restore_sent=True)
        elect = decide(decision_input(led_by_another, wanted=wanted, state=KNOWING, transient=sent))
        assert elect == ElectPreferred(partitions=(T1,))
        end = decide(
            decision_input(observation(*DONE), wanted=wanted, state=KNOWING, transient=sent)
        )
        assert end == Finish(outcome=LifecycleState.COMPLETED)

    def test_values_are_put_back_even_if_brokers_show_them_so_already(self) -> None:
        """A broker shows a throttle some time after it took it: it must not be left behind."""
        step = decide(decision_input(observation(*DONE), wanted=spec(rate=1000), state=KNOWING))
        assert isinstance(step, RestoreThrottle)
        assert set(step.change.brokers) == {1, 2, 3, 4}

    def test_a_throttle_that_cannot_be_restored_holds_up_the_end(self) -> None:
        """What is put back is forgotten first: others may begin, and change it."""
        seen = observation(*DONE, live=(1, 2, 4))
        transient = TransientState(is_restore_sent=True)
        save = decide(
            decision_input(seen, wanted=spec(rate=1000), state=KNOWING, transient=transient)
        )
        owing = replace(
            KNOWING,
            closing=LifecycleState.COMPLETED,
            topic_throttles={},
            broker_throttles={3: KNOWING.broker_throttles[3]},
        )
        assert save == SaveState(state=owing)
        step = decide(
            decision_input(seen, wanted=spec(rate=1000), state=owing, transient=transient)
        )
        assert step == Wait(
            state=LifecycleState.VERIFYING,
            reason="ThrottleDebt",
            message="throttle not restored: broker 3",
        )
        back = observation(*DONE, broker_configs={3: rate_values(1000)})
        paid = decide(
            decision_input(back, wanted=spec(rate=1000), state=owing, transient=transient)
        )
        assert isinstance(paid, RestoreThrottle)
        assert paid.change.brokers == {3: dict.fromkeys(rate_values(1))}

    def test_replicas_must_be_in_sync_for_a_while(self) -> None:
        seen = observation(partition(T0, 1, 4, isr=(1,)), DONE[1])
        save = decide(decision_input(seen, state=persisted_state()))
        closing = replace(persisted_state(), closing=LifecycleState.COMPLETED)
        assert save == SaveState(state=closing)
        step = decide(decision_input(seen, state=closing))
        assert isinstance(step, Wait)
        assert (step.state, step.reason) == (LifecycleState.VERIFYING, "Verifying")
        end = decide(decision_input(seen, state=closing, transient=TransientState(is_stalled=True)))
        flaw = Flaw(reason="DegradedReplicas", message="t-0: not in sync: 4")
        assert end == Finish(outcome=LifecycleState.COMPLETED, flaw=flaw)

    def test_leaders_are_asked_for_so_often_and_then_named(self) -> None:
        seen = observation(DONE[0], partition(T1, 4, 2, leader=2))
        transient = TransientState(not_electable={T1: "CLUSTER_AUTHORIZATION_FAILED no"})
        end = decide(decision_input(seen, state=persisted_state(), transient=transient))
        message = "t-1: CLUSTER_AUTHORIZATION_FAILED no"
        flaw = Flaw(reason="PreferredLeaderNotElected", message=message)
        assert end == Finish(outcome=LifecycleState.COMPLETED, flaw=flaw)

    @pytest.mark.parametrize(
        "seen",
        [
            observation(partition(T0, 1, 3), DONE[1]),
            observation(DONE[0], partition(T1, 2, 3, 4), pending={T1: MOVED_ON}),
        ],
        ids=["was", "is"],
    )
    def test_what_others_move_once_all_is_over_is_left_to_them(self, seen: Observation) -> None:
        """A drain that was let past: the plan that it passed must not undo its work."""
        closing = replace(persisted_state(), closing=LifecycleState.COMPLETED)
        step = decide(decision_input(seen, wanted=spec(rate=5), state=closing))
        assert step == Finish(outcome=LifecycleState.COMPLETED)

    def test_what_failed_is_remembered(self) -> None:
        closing = replace(persisted_state(), closing=LifecycleState.FAILED)
        assert decide(decision_input(state=closing)) == Finish(outcome=LifecycleState.FAILED)


class TestLettingOthersBegin:
    """Broker 4, to which all moves go, is down."""

    DOWN = observation(live=(1, 2, 3))
    HELD = replace(KNOWING, has_yielded=True, topic_throttles={}, broker_throttles={})
    BEHIND = QueuePlace(position=1, blocked_by=("drain",))

    def test_after_a_while_the_throttle_is_put_back_and_others_may_begin(self) -> None:
        wanted, idle = spec(rate=1000), TransientState(is_idle=True)
        throttled = replace(THROTTLED, cluster=self.DOWN.cluster)
        held = decide(decision_input(throttled, wanted=wanted, state=KNOWING))
        assert isinstance(held, Wait)
        assert held.reason == "TargetBrokerOffline"
        yielding = replace(KNOWING, has_yielded=True)
        save = decide(decision_input(throttled, wanted=wanted, state=KNOWING, transient=idle))
        assert save == SaveState(state=yielding)
        restore = decide(decision_input(throttled, wanted=wanted, state=yielding, transient=idle))
        assert isinstance(restore, RestoreThrottle)
        assert set(restore.change.brokers) == {1, 2, 3, 4}
        calm = replace(observation(), cluster=self.DOWN.cluster)
        sent = TransientState(is_restore_sent=True)
        forgets = decide(decision_input(calm, wanted=wanted, state=yielding, transient=sent))
        assert forgets == SaveState(state=self.HELD)
        waits = decide(decision_input(calm, wanted=wanted, state=self.HELD, transient=sent))
        assert isinstance(waits, Wait)
        assert (waits.state, waits.reason) == (LifecycleState.EXECUTING, "TargetBrokerOffline")

    def test_it_goes_on_when_it_can_and_has_its_turn(self) -> None:
        can = decision_input(wanted=spec(rate=1000), state=self.HELD)
        behind = decide(replace(can, place=self.BEHIND))
        assert behind == Wait(state=LifecycleState.QUEUED, reason="Queued", message="behind drain")
        assert decide(can) == SaveState(state=replace(self.HELD, has_yielded=False))

    def test_pausing_keeps_the_turn(self) -> None:
        step = decide(
            decision_input(
                wanted=spec(PAUSED), state=persisted_state(), transient=TransientState(is_idle=True)
            )
        )
        assert isinstance(step, Wait)
        assert step.state is LifecycleState.PAUSED

    def test_the_way_back_waits_for_the_turn_as_well(self) -> None:
        back = decision_input(wanted=spec(ROLLED_BACK), state=self.HELD)
        step = decide(replace(back, place=self.BEHIND))
        assert isinstance(step, Wait)
        assert step.state is LifecycleState.QUEUED
        begins = replace(self.HELD, has_yielded=False, intent=Intent.ROLL_BACK)
        assert decide(back) == SaveState(state=begins)


class TestCancelling:
    def test_a_refused_cancel_gives_the_throttle_back_then_is_reported(self) -> None:
        refused = TransientState(cancel_refusals={T0: RequestError(error="REFUSED", message="no")})
        cancelling = replace(KNOWING, intent=Intent.CANCEL)
        busy = replace(THROTTLED, pending={T0: FORWARD})
        wanted = spec(CANCELLED, rate=1000)
        first = decide(decision_input(busy, wanted=wanted, state=cancelling))
        assert first == CancelActive(partitions=(T0,))
        restore = decide(decision_input(busy, wanted=wanted, state=cancelling, transient=refused))
        assert isinstance(restore, RestoreThrottle)
        sent = replace(refused, is_restore_sent=True)
        calm = observation(pending={T0: FORWARD})
        closing = replace(persisted_state(Intent.CANCEL), closing=LifecycleState.CANCELLED)
        save = decide(decision_input(calm, wanted=wanted, state=cancelling, transient=sent))
        assert save == SaveState(state=closing)
        waits = decide(decision_input(calm, wanted=wanted, state=closing, transient=sent))
        assert waits == Wait(
            state=LifecycleState.CANCELLING, reason="CancelRefused", message="t-0: REFUSED no"
        )
        again = decide(decision_input(calm, wanted=wanted, state=closing))
        assert again == CancelActive(partitions=(T0,))
        end = decide(decision_input(wanted=wanted, state=closing))
        assert end == Finish(outcome=LifecycleState.CANCELLED)
