from ballast.reassign.errors import ManifestError, ManifestRejected


def test_an_error_names_the_field_and_the_reason() -> None:
    errors = [ManifestError(path="spec.a[1]", reason="no"), ManifestError(path="b", reason="odd")]
    rejected = ManifestRejected(errors)
    assert str(rejected) == "spec.a[1]: no; b: odd"
    assert rejected.errors == tuple(errors)
