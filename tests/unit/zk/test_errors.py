import inspect

from ballast.zk import errors


def test_one_tree_stated_in_the_docstring() -> None:
    kinds = [e for _, e in inspect.getmembers(errors, inspect.isclass)]
    assert all(issubclass(kind, errors.ZooKeeperError) for kind in kinds)
    assert all(kind.__name__ in (errors.__doc__ or "") for kind in kinds)


def test_a_failed_multi_says_which_and_why() -> None:
    failure = errors.MultiFailed(3, errors.BadVersion("/a"))
    assert (failure.index, str(failure)) == (3, "operation 3: BadVersion('/a')")
