"""The death of a process under test, at any one of its effects."""

from dataclasses import dataclass, field


class Killed(BaseException):
    """The process under test dies here."""


@dataclass
class CrashPoint:
    """Kills the process at its n-th effect: before it happens, or just after."""

    at: int | None = None
    after: bool = False
    effects: list[str] = field(default_factory=list)

    def before_effect(self, name: str) -> None:
        self.effects.append(name)
        if self.at == len(self.effects) and not self.after:
            raise Killed(name)

    def after_effect(self) -> None:
        if self.at == len(self.effects) and self.after:
            raise Killed(self.effects[-1])
