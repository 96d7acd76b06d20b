"""The tree of errors is drawn as it is."""

from ballast.candidate import errors


def test_every_error_is_drawn() -> None:
    drawn = errors.__doc__ or ""
    made = [kind for kind in vars(errors).values() if isinstance(kind, type)]

    assert all(issubclass(kind, errors.CandidateError) for kind in made)
    assert [kind.__name__ for kind in made if kind.__name__ not in drawn] == []
