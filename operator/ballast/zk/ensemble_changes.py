"""Changes of the ensemble's list of servers (ZOOKEEPER-107): which servers join, which leave."""

import asyncio
from typing import Any

from kazoo.client import KazooClient
from kazoo.exceptions import KazooException
from kazoo.handlers.threading import KazooTimeoutError

from ballast.zk.errors import RequestFailed

TIMEOUT_S = 10.0


async def change_ensemble(
    connect: str,
    password: str,
    *,
    joining: str,
    leaving: str,
    version: int,
    timeout_s: float = TIMEOUT_S,
) -> None:
    """Commit one change of the list, if its version is still that.

    ``connect`` is ``host:port`` of the leader, ``password`` that of its superuser, ``joining`` is
    ``server.<id>=<value>`` and ``leaving`` an id, several with commas between; either may be empty.
    Raises `RequestFailed`: the change may be under way all the same.
    """
    await asyncio.to_thread(_change, connect, password, (joining, leaving, version), timeout_s)


def _change(connect: str, password: str, change: tuple[str, str, int], timeout_s: float) -> None:
    joining, leaving, version = change
    client: Any = KazooClient(
        connect, timeout=TIMEOUT_S, auth_data=[("digest", f"super:{password}")]
    )
    try:
        client.start(timeout=timeout_s)
        answer = client.reconfig_async(joining or None, leaving or None, None, version)
        answer.get(timeout=timeout_s)
    except (KazooException, KazooTimeoutError) as error:
        raise RequestFailed(f"the list of servers was not changed: {error!r}") from error
    finally:
        client.stop()
        client.close()
