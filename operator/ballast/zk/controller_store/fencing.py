"""A controller's writes: each is a multi that begins with a check of /controller_epoch's version.

Source: `KafkaZkClient.wrapRequestWithControllerEpochCheck` (KAFKA-6082). A deposed controller can
write nothing, whatever it still believes.
"""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager

from ballast.controller.errors import ControllerMoved, StateChangeFailed, StoreUnavailable
from ballast.zk import lost_replies
from ballast.zk.client import (
    MAX_REQUEST_BYTES,
    Check,
    Operation,
    OperationResult,
    ZooKeeperClient,
    request_size,
)
from ballast.zk.errors import (
    ConnectionLoss,
    MultiFailed,
    NoNode,
    RequestFailed,
    SessionExpired,
    ZooKeeperError,
)
from ballast.znodes import controller_epoch

MAX_OPERATIONS = 500
"""Operations in one multi, its check included: beyond that throughput gains nothing more."""


@contextmanager
def store_errors() -> Iterator[None]:
    """Translate ZooKeeper's errors into the controller's.

    A session that has ended or whose connections keep breaking is of no use to a controller:
    `StoreUnavailable`. Any other error concerns one operation only: `StateChangeFailed`.
    """
    try:
        yield
    except (SessionExpired, ConnectionLoss, RequestFailed) as error:
        raise StoreUnavailable(f"{type(error).__name__}: {error}") from error
    except ZooKeeperError as error:
        raise StateChangeFailed(f"{type(error).__name__}: {error}") from error


class FencedWriter:
    """Writes in the name of one elected controller.

    Every method may raise `ControllerMoved`, `SessionExpired`, and `ConnectionLoss` when
    connections keep breaking.
    """

    def __init__(self, client: ZooKeeperClient, epoch_zk_version: int) -> None:
        assert epoch_zk_version >= 0, "-1 would match any epoch and fence nothing"
        self._client = client
        self._check = Check(controller_epoch.PATH, epoch_zk_version)

    async def multi(self, operations: Sequence[Operation]) -> list[OperationResult]:
        """Apply all operations or none, in one multi.

        Raises `MultiFailed` with the index in ``operations``; `ConnectionLoss` = unknown outcome.
        """
        assert len(operations) < MAX_OPERATIONS
        try:
            results = await self._client.multi((self._check, *operations))
        except MultiFailed as failure:
            if failure.index == 0:
                raise ControllerMoved(
                    f"{controller_epoch.PATH} is not at version {self._check.version} any more"
                ) from failure
            raise MultiFailed(failure.index - 1, failure.error) from failure
        return results[1:]

    async def apply(self, operations: Sequence[Operation]) -> None:
        """Apply operations in order, chunk by chunk; those whose znode is gone are left out.

        Only for unconditional SetData and Delete: after a lost reply they are repeated. Raises
        the error of an operation that fails for another reason than `NoNode`.
        """
        for chunk in chunks(operations):
            await self._apply_chunk(chunk)

    async def _apply_chunk(self, chunk: Sequence[Operation]) -> None:
        for _ in range(lost_replies.MAX_ATTEMPTS):
            if not chunk:
                return
            try:
                await self.multi(chunk)
            except ConnectionLoss:
                await lost_replies.settle(self._client)
            except MultiFailed as failure:
                if not isinstance(failure.error, NoNode):
                    raise failure.error from failure
            else:
                return
            chunk = await self._still_there(chunk)
        raise ConnectionLoss("a chunk of writes could not be applied")

    async def _still_there(self, operations: Sequence[Operation]) -> list[Operation]:
        paths = [operation.path for operation in operations]
        found = await lost_replies.repeat(self._client, lambda: self._client.multi_read(paths))
        return [
            operation for operation, node in zip(operations, found, strict=True) if node is not None
        ]


def chunks(operations: Sequence[Operation]) -> Iterator[list[Operation]]:
    """Cut operations into runs that fit one fenced multi, by number and by size."""
    for run in grouped([(operation,) for operation in operations]):
        yield [operation for group in run for operation in group]


def grouped(groups: Iterable[Sequence[Operation]]) -> Iterator[list[Sequence[Operation]]]:
    """Cut groups of operations into runs that fit one fenced multi; no group is cut in two."""
    run: list[Sequence[Operation]] = []
    count = size = 0
    for group in groups:
        more = request_size(group)
        if run and (count + len(group) >= MAX_OPERATIONS or size + more > MAX_REQUEST_BYTES - 1024):
            yield run
            run, count, size = [], 0, 0
        run.append(group)
        count += len(group)
        size += more
    if run:
        yield run
