from typing import get_args

from ballast.reassign.decision.steps import Step


def test_steps_are_values() -> None:
    for kind in get_args(Step):
        assert kind.__dataclass_params__.frozen
        assert not hasattr(kind, "__dict__") or "__slots__" in vars(kind)
