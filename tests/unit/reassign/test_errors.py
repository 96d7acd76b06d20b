from ballast.model.fields import FieldError
from ballast.reassign.errors import ManifestRejected


def test_an_error_names_the_field_and_the_reason() -> None:
    errors = [FieldError(path="spec.a[1]", reason="no"), FieldError(path="b", reason="odd")]
    rejected = ManifestRejected(errors)
    assert str(rejected) == "spec.a[1]: no; b: odd"
    assert rejected.errors == tuple(errors)
