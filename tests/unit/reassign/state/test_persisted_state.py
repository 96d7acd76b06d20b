import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from ballast.reassign.errors import StateMismatch
from ballast.reassign.state.conditions import LifecycleState, updated
from ballast.reassign.state.persisted_state import Intent, PersistedState
from tests.unit.reassign.builders import persisted_state

FULL = replace(
    persisted_state(Intent.ROLL_BACK),
    topic_throttles={"t": {"a": "0:1", "b": None}},
    broker_throttles={3: {"c": None}},
    outcome=LifecycleState.FAILED,
    completion_time_ms=5,
    conditions=tuple(updated({}, {}, generation=1, now_ms=0).values()),
)


@pytest.mark.parametrize("kept", [persisted_state(started=False), FULL])
def test_what_is_stored_is_read_back(kept: PersistedState) -> None:
    assert PersistedState.from_document(json.loads(json.dumps(kept.to_document()))) == kept


def test_intents_of_an_older_version_are_read() -> None:
    stored = {"Execute", "Cancel", "RollBack", "Abandon", "Leave"}
    assert {intent.value for intent in Intent} == stored


def test_throttles_may_be_out_while_values_are_remembered() -> None:
    assert FULL.has_throttles
    assert not persisted_state().has_throttles


def _with(name: str, value: object) -> Callable[[dict[str, Any]], None]:
    def edit(document: dict[str, Any]) -> None:
        document[name] = value

    return edit


@pytest.mark.parametrize(
    "edit",
    [
        _with("version", 2),
        _with("plan", None),
        _with("plan", {"lines": 5}),
        _with("plan", {"format": "x", "digest": "y", "lines": []}),
        _with("plan", {"format": "ballast-plan/v1", "digest": "y", "lines": ["{}"]}),
        _with("intent", "Explode"),
        _with("outcome", "x"),
        _with("startTimeMs", "x"),
        _with("startTimeMs", True),
        _with("topicThrottles", []),
        _with("topicThrottles", {"t": 5}),
        _with("brokerThrottles", {"one": {}}),
        _with("brokerThrottles", {"1": {"a": 5}}),
        lambda document: document.pop("name"),
        lambda document: document["plan"].update(digest="sha256:0"),
    ],
)
def test_anything_else_is_refused(edit: Callable[[dict[str, Any]], None]) -> None:
    document = FULL.to_document()
    edit(document)
    with pytest.raises(StateMismatch):
        PersistedState.from_document(document)
