"""``ballast up``: a cluster on this machine, in the foreground, until SIGINT or SIGTERM."""

import asyncio
import signal
import sys
from collections.abc import Sequence
from pathlib import Path

from ballast.commands.overrides import parse_overrides
from ballast.embedded.cluster import local_cluster
from ballast.embedded.errors import EmbeddedError
from ballast.embedded.layout import ClusterLayout


def main(
    *,
    brokers: int,
    controllers: int,
    directory: Path,
    base_port: int,
    restart: bool,
    overrides: Sequence[str],
) -> int:
    """Run until stopped; return 0 after a clean stop, 1 when the cluster could not start."""
    try:
        layout = ClusterLayout(
            directory=directory,
            brokers=brokers,
            controllers=controllers,
            base_port=base_port,
            overrides=parse_overrides(overrides),
        )
        asyncio.run(_up(layout, restart=restart))
    except (EmbeddedError, ValueError) as error:
        print(f"ballast up: {error}", file=sys.stderr)
        return 1
    return 0


async def _up(layout: ClusterLayout, *, restart: bool) -> None:
    stopped = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, stopped.set)
    async with local_cluster(layout, restart=restart, report=_say) as cluster:
        async with asyncio.TaskGroup() as tasks:
            start = tasks.create_task(cluster.start())
            stop = tasks.create_task(stopped.wait())
            await asyncio.wait([start, stop], return_when=asyncio.FIRST_COMPLETED)
            if start.done() and not start.cancelled() and start.exception() is None:
                _say(f"bootstrap.servers={layout.bootstrap_servers}")
                await stop
            start.cancel()
            stop.cancel()
        _say("stopping")
        await cluster.stop()


def _say(line: str) -> None:
    print(line, flush=True)
