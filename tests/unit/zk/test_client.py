from ballast.zk.client import Check, Create, Delete, Operation, SetData, request_size
from ballast.zk.kazoo_adapter.requests import MultiRequest


def test_the_size_of_a_request_is_never_underestimated() -> None:
    operations: list[Operation] = [
        Create("/a" * 100, b"x" * 1000, ephemeral=True),
        SetData("/b", b"y" * 10, 7),
        Delete("/c"),
        Check("/controller_epoch", 3),
        Create("/d"),
    ]
    size = len(MultiRequest(operations).serialize())
    assert size <= request_size(operations) <= size + 64 * (len(operations) + 1)
