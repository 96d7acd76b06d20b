"""A broken promise."""


class InvariantViolation(AssertionError):
    """One of the predicates of the reliability model does not hold; ``rule`` is its number."""

    def __init__(self, rule: str, text: str) -> None:
        super().__init__(f"{rule}: {text}")
        self.rule = rule


def require(rule: str, holds: bool, text: str) -> None:
    """Raise `InvariantViolation` unless ``holds``."""
    if not holds:
        raise InvariantViolation(rule, text)
