"""Room for requests that are being read."""

from ballast.net.server.request_memory import RequestMemory


def test_a_request_is_let_in_while_anything_is_free() -> None:
    memory = RequestMemory(100)
    assert memory.take(99)
    assert memory.take(500), "the last one may go beyond the bound, or a large one never would"
    assert not memory.take(1)
    assert memory.held == 599


def test_those_that_wait_try_again_in_their_order_when_there_is_room() -> None:
    memory = RequestMemory(100)
    memory.take(60)
    memory.take(60)
    tried: list[int] = []
    for number in (3, 1, 2):
        memory.wait(number, lambda number=number: tried.append(number))  # type: ignore[misc]
    memory.forget(1)
    memory.give_back(10)
    assert tried == []
    memory.give_back(50)
    assert tried == [3, 2]
    memory.give_back(60)
    assert tried == [3, 2], "each is called once"
    assert memory.held == 0
