"""Writes docs/design/reassignment-lifecycle.md from the table: ``python -m docs.lifecycle``."""

import inspect
from pathlib import Path

from ballast.reassign.state import lifecycle
from ballast.reassign.state.conditions import FINAL_STATUS, LifecycleState
from ballast.reassign.state.lifecycle import NEXT_STATES, PHASES

TARGET = Path(__file__).parent / "design" / "reassignment-lifecycle.md"
INTRODUCTION = """\
# The lifecycle of a PartitionReassignment

This page is generated from `operator/ballast/reassign/state/lifecycle.py` by
`python -m docs.lifecycle`. The state is the reason of the condition `Succeeded`:
`kubectl get partitionreassignment NAME -o yaml` shows it. What each reason means is in the
[runbook](../runbook.md).
"""


def main() -> None:
    """Write the page."""
    TARGET.parent.mkdir(exist_ok=True)
    TARGET.write_text(page())


def page() -> str:
    """Return the whole page."""
    return "\n".join(
        [
            INTRODUCTION,
            "```text",
            picture(),
            "```",
            "",
            "## Transitions",
            "",
            "| state | `Succeeded` | may be followed by |",
            "|---|---|---|",
            *(_transitions(state) for state in LifecycleState),
            "",
            "## Intents",
            "",
            "An intent may be replaced by one further down in this table only.",
            "",
            "| intent | while moves run | once every move is over | at the end |",
            "|---|---|---|---|",
            *(
                f"| {intent.name} | {phases.active} | {phases.closing} | {phases.outcome} |"
                for intent, phases in PHASES.items()
            ),
            "",
        ]
    )


def picture() -> str:
    """Return the picture in the docstring of the table."""
    text = inspect.cleandoc(lifecycle.__doc__ or "")
    lines = text.split("::\n", 1)[1].split("\n- ", 1)[0].strip("\n").split("\n")
    return inspect.cleandoc("\n" + "\n".join(lines)).rstrip()


def _transitions(state: LifecycleState) -> str:
    status = FINAL_STATUS[state].value if state in FINAL_STATUS else "Unknown"
    following = ", ".join(
        other for other in LifecycleState if other in NEXT_STATES[state] - {state}
    )
    return f"| {state} | {status} | {following or '—'} |"


if __name__ == "__main__":
    main()
