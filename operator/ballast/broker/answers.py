"""An answer that comes by callback, at once or later, as a handler of an API returns it."""

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any, Generic, TypeVar

from ballast.protocol.schema import Message

T = TypeVar("T")


class Answer(Generic[T]):
    """A callback to be called once; `into` makes the response of what it is called with.

    Needs a running event loop. Whoever asked may be gone when it is called: then it does nothing.
    """

    def __init__(self) -> None:
        self._future: asyncio.Future[T] = asyncio.get_running_loop().create_future()

    def __call__(self, value: T) -> None:
        """Answer with ``value``."""
        if not self._future.done():
            self._future.set_result(value)

    def into(self, response: Callable[[T], Message]) -> Message | Coroutine[Any, Any, Message]:
        """Return the response, or what waits for it."""
        if self._future.done():
            return response(self._future.result())
        return self._later(response)

    async def _later(self, response: Callable[[T], Message]) -> Message:
        return response(await self._future)
