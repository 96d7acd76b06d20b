"""What can be wrong with a broker set before anything is touched.

BrokerSetError
└── InvalidBrokerSet    a spec that cannot be carried out; it names each field
"""

from collections.abc import Sequence

from ballast.model.fields import FieldError


class BrokerSetError(Exception):
    """Any refusal of this package."""


class InvalidBrokerSet(BrokerSetError):
    """A spec that cannot be carried out; nothing is changed on its behalf."""

    def __init__(self, errors: Sequence[FieldError]) -> None:
        super().__init__("; ".join(str(error) for error in errors))
        self.errors = tuple(errors)
