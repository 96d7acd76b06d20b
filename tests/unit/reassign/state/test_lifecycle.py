import asyncio

from hypothesis import given, settings
from hypothesis import strategies as st

from ballast.reassign.reconcile import Reconciler
from ballast.reassign.spec.spec import Approval, ApprovalPolicy, DesiredState, ReassignmentSpec
from ballast.reassign.state.conditions import FINAL_STATUS, LifecycleState
from ballast.reassign.state.lifecycle import INTENT_RANK, NEXT_STATES, PHASES
from ballast.reassign.state.persisted_state import Intent
from ballast.reassign.state.queueing import QueuePlace
from docs import lifecycle as page
from tests.unit.reassign.scenario import Scenario, always, cluster, spec

_WAITS = QueuePlace(position=1, blocked_by=("other",))
_HAS_TURN = QueuePlace(position=0)
_MANUAL = Approval(policy=ApprovalPolicy.MANUAL)

turns = st.tuples(
    st.sampled_from(DesiredState),
    st.booleans(),
    st.sampled_from([None, 1, 2, 4]),
    st.sampled_from([Approval(), _MANUAL]),
    st.integers(1, 20),
)
"""Desired state, whether the queue has reached it, broker that is down, approval, visits."""


@settings(max_examples=25)
@given(st.lists(turns, min_size=1, max_size=6))
def test_every_transition_is_in_the_table(
    story: list[tuple[DesiredState, bool, int | None, Approval, int]],
) -> None:
    scenario = Scenario(cluster=cluster(), script=always(spec()))
    asyncio.run(_play(scenario, story))
    assert scenario.statuses


async def _play(
    scenario: Scenario, story: list[tuple[DesiredState, bool, int | None, Approval, int]]
) -> None:
    reconciler = Reconciler(admin=scenario.admin, store=scenario.store, clock=scenario.clock)
    for generation, (desired, has_turn, dead_broker, approval, visits) in enumerate(story, 1):
        if dead_broker is not None:
            scenario.cluster.stop(dead_broker)
        wanted: ReassignmentSpec = spec(
            desired, rate=2000, generation=generation, approval=approval
        )
        for _ in range(visits):
            result = await reconciler.reconcile(wanted, _HAS_TURN if has_turn else _WAITS)
            scenario.record(result.status)
            await scenario.clock.sleep(result.requeue_after_s or 1.0)
        if dead_broker is not None:
            scenario.cluster.start(dead_broker)


def test_the_tables_name_every_state_and_intent() -> None:
    assert set(NEXT_STATES) == set(LifecycleState)
    assert list(PHASES) == list(Intent)
    assert sorted(Intent, key=INTENT_RANK.__getitem__) == [
        Intent.EXECUTE,
        Intent.CANCEL,
        Intent.ROLL_BACK,
        Intent.CANCEL_ON_DELETE,
        Intent.ORPHAN,
    ]


def test_an_intent_ends_in_a_final_state_that_may_follow_it() -> None:
    for phases in PHASES.values():
        assert phases.outcome in FINAL_STATUS
        assert phases.closing in NEXT_STATES[phases.active]
        assert phases.outcome in NEXT_STATES[phases.closing]


def test_only_moves_to_the_targets_are_verified() -> None:
    differing = [intent for intent in Intent if PHASES[intent].active is not PHASES[intent].closing]
    assert differing == [Intent.EXECUTE]
    assert PHASES[Intent.EXECUTE].closing is LifecycleState.VERIFYING


def test_the_picture_shows_every_state() -> None:
    picture = page.picture()
    missing = [state for state in LifecycleState if state.value not in picture]
    assert missing == []


def test_the_page_is_current() -> None:
    assert page.TARGET.read_text() == page.page(), "run python -m docs.lifecycle"
