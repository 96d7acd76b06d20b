"""The errors of a broker set: all are raised before anything is changed.

BrokerSetError
└── InvalidBrokerSet    a spec that cannot be carried out; it names each field
"""

from collections.abc import Sequence

from ballast.model.fields import FieldError


class BrokerSetError(Exception):
    """Any refusal of this package."""


class InvalidBrokerSet(BrokerSetError):
    """A spec that cannot be carried out; nothing is changed for it."""

    def __init__(self, errors: Sequence[FieldError]) -> None:
        super().__init__("; ".join(str(error) for error in errors))
        self.errors = tuple(errors)
