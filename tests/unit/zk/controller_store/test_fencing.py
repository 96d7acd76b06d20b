import pytest

from ballast.controller.errors import ControllerMoved, StateChangeFailed, StoreUnavailable
from ballast.zk.client import MAX_REQUEST_BYTES, Create, Delete, SetData, request_size
from ballast.zk.controller_store.fencing import (
    MAX_OPERATIONS,
    FencedWriter,
    chunks,
    grouped,
    store_errors,
)
from ballast.zk.errors import (
    BadVersion,
    ConnectionLoss,
    MultiFailed,
    NodeExists,
    NotEmpty,
    RequestFailed,
    RequestTooLarge,
    SessionExpired,
)
from tests.unit.zk.stores import server, session


def test_no_writer_without_a_fence() -> None:
    with pytest.raises(AssertionError):
        FencedWriter(server().connect(), -1)


def test_chunks_by_number_and_by_size() -> None:
    small = [Delete(f"/{number}") for number in range(1200)]
    assert [len(chunk) for chunk in chunks(small)] == [499, 499, 202]
    assert [operation for chunk in chunks(small) for operation in chunk] == small
    large = [SetData(f"/{number}", bytes(300_000)) for number in range(10)]
    assert [len(chunk) for chunk in chunks(large)] == [3, 3, 3, 1]
    assert all(request_size(chunk) < MAX_REQUEST_BYTES for chunk in chunks(large))
    assert list(chunks([])) == []


def test_groups_stay_whole() -> None:
    groups = [[Create("/a"), Create("/a/b"), Create("/a/b/c")]] * 300
    runs = list(grouped(groups))
    assert [len(run) for run in runs] == [166, 134]
    assert all(sum(map(len, run)) < MAX_OPERATIONS for run in runs)


async def test_indexes_count_without_the_check() -> None:
    zookeeper = server()
    zookeeper.put("/controller_epoch", b"1")
    async with session(zookeeper, "one") as client:
        writer = FencedWriter(client, 0)
        assert await writer.multi([Create("/a")]) == ["/a"]
        with pytest.raises(MultiFailed) as failure:
            await writer.multi([Create("/b"), Create("/a")])
        assert (failure.value.index, type(failure.value.error)) == (1, NodeExists)
        zookeeper.put("/controller_epoch", b"2")
        with pytest.raises(ControllerMoved):
            await writer.multi([Create("/b")])
        zookeeper.write(Delete("/controller_epoch"))
        with pytest.raises(ControllerMoved):
            await writer.apply([Delete("/a")])
        assert zookeeper.data("/a") is not None


async def test_what_is_gone_is_left_out_and_what_fails_is_told() -> None:
    zookeeper = server()
    zookeeper.put("/controller_epoch", b"1")
    zookeeper.put("/a/b")
    async with session(zookeeper, "one") as client:
        writer = FencedWriter(client, 0)
        await writer.apply([SetData("/no", b"1"), SetData("/a", b"2"), Delete("/neither")])
        assert zookeeper.data("/a") == b"2"
        with pytest.raises(NotEmpty):
            await writer.apply([Delete("/a")])


@pytest.mark.parametrize(
    ("raised", "expected"),
    [
        (SessionExpired(), StoreUnavailable),
        (ConnectionLoss(), StoreUnavailable),
        (RequestFailed(), StoreUnavailable),
        (RequestTooLarge(), StateChangeFailed),
        (BadVersion(), StateChangeFailed),
        (ControllerMoved(), ControllerMoved),
        (KeyError(), KeyError),
    ],
)
def test_errors_of_zookeeper_become_those_of_the_controller(
    raised: Exception, expected: type[Exception]
) -> None:
    with pytest.raises(expected), store_errors():
        raise raised
