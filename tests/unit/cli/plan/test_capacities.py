import pytest

from ballast.cli.plan.capacities import CapacityRejected, read_capacities, with_capacities
from ballast.planner.snapshot.entries import BrokerEntry

BROKERS = [
    BrokerEntry(id=1, log_dirs=("/a", "/b")),
    BrokerEntry(id=2, log_dirs=("/a", "/b")),
]


def capacities(*words: str) -> list[tuple[int | None, tuple[int, ...]]]:
    sized = with_capacities(BROKERS, read_capacities(words))
    return [(one.capacity_bytes, one.log_dir_bytes) for one in sized]


def test_of_brokers() -> None:
    assert capacities("1Ki") == [(1024, ()), (1024, ())]
    assert capacities("1Ki", "2=2Ki") == [(1024, ()), (2048, ())]
    assert capacities() == [(None, ()), (None, ())]


def test_of_log_directories() -> None:
    assert capacities("/a=5", "/b=7", "2:/b=9") == [(12, (5, 7)), (14, (5, 9))]
    assert capacities("9", "2:/a=1", "2:/b=2") == [(9, ()), (9, (1, 2))]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["x=5"], "not a capacity"),
        (["1=2=3"], "not a capacity"),
        (["1=5x"], "is not a quantity"),
        (["1=-5"], "is less than nothing"),
        (["5", "6"], "says twice"),
        (["1=5"], "says nothing of broker 2"),
        (["5", "9=5"], "broker 9 is not alive"),
        (["5", "/a=3"], "says nothing of /b on broker 1"),
    ],
)
def test_what_does_not_say_how_large_brokers_are(words: list[str], message: str) -> None:
    with pytest.raises(CapacityRejected, match=message):
        capacities(*words)
