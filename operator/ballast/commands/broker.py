"""``ballast broker``: one broker, until SIGINT or SIGTERM (controlled shutdown) or a failure."""

import asyncio
import logging
import random
from collections.abc import Sequence
from pathlib import Path

from ballast.broker.broker import Broker
from ballast.broker.config import BrokerConfig
from ballast.commands.process import (
    BAD_CONFIGURATION,
    read_properties,
    refuse,
    serve,
    stop_signals,
    wall_clock_ms,
)
from ballast.storage.files import RealFiles
from ballast.zk.kazoo_client import KazooZooKeeperClient

log = logging.getLogger(__name__)


def main(*, properties: Path | None, overrides: Sequence[str]) -> int:
    """Run the broker; 0 after a stop, 1 after a failure, 2 for a bad configuration."""
    try:
        config, unknown = BrokerConfig.from_properties(read_properties(properties, overrides))
    except BAD_CONFIGURATION as error:
        return refuse("broker", error)
    return serve(_run(config, unknown))


async def _run(config: BrokerConfig, unknown: Sequence[str]) -> None:
    for name in unknown:
        log.warning("%s is not a property of a broker and is ignored", name)
    stopped = stop_signals()
    broker = Broker(
        config,
        client_factory=lambda: KazooZooKeeperClient(
            config.zookeeper_connect, session_timeout_s=config.zookeeper_session_timeout_ms / 1000
        ),
        files=RealFiles(config.log_dirs),
        random=random.Random(),  # noqa: S311 - spreads load and names files, no secrets
        wall_clock_ms=wall_clock_ms,
    )
    await broker.start()
    log.info("started")
    async with asyncio.TaskGroup() as tasks:
        ends = [tasks.create_task(event.wait()) for event in (stopped, broker.failed)]
        await asyncio.wait(ends, return_when=asyncio.FIRST_COMPLETED)
        for end in ends:
            end.cancel()
    log.info("stopping")
    await broker.shutdown()
    if broker.failure is not None:
        raise broker.failure
