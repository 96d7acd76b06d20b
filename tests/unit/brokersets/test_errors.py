from ballast.brokersets.errors import InvalidBrokerSet
from ballast.model.fields import FieldError


def test_an_invalid_set_names_every_field() -> None:
    errors = [FieldError(path="spec.a", reason="no"), FieldError(path="spec.b[1]", reason="odd")]
    error = InvalidBrokerSet(errors)
    assert str(error) == "spec.a: no; spec.b[1]: odd"
    assert error.errors == tuple(errors)
