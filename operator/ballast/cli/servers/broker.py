"""``ballast broker``: one broker, until SIGINT or SIGTERM (controlled shutdown) or a failure."""

import logging
import random
from collections.abc import Sequence
from pathlib import Path

from ballast.broker.broker import Broker
from ballast.broker.config.config import BrokerConfig
from ballast.cli.clock import wall_clock_ms
from ballast.cli.servers import pod_config as pods
from ballast.cli.servers.long_running import run_process, stop_signals, unless_stopped
from ballast.zk.kazoo_adapter.client import KazooZooKeeperClient

log = logging.getLogger(__name__)


def main(*, properties: Path | None, overrides: Sequence[str], pod: bool = False) -> int:
    """Run the broker; 0 after a stop, 1 after a failure, 2 for a bad configuration.

    With ``pod``, id, addresses and rack are those of the pod, from the environment.
    """
    configure = pods.configure if pod else BrokerConfig.from_properties
    return run_process("broker", configure, _run, properties, overrides)


async def _run(config: BrokerConfig) -> None:
    stopped = stop_signals()
    broker = Broker(
        config,
        client_factory=lambda: KazooZooKeeperClient(
            config.zookeeper_connect, session_timeout_s=config.zookeeper_session_timeout_ms / 1000
        ),
        random=random.Random(),  # noqa: S311 - spreads load and names files, no secrets
        wall_clock_ms=wall_clock_ms,
    )
    if not await unless_stopped(broker.start(), stopped):
        return
    log.info("started")
    await unless_stopped(broker.failed.wait(), stopped)
    log.info("stopping")
    await broker.shutdown()
    if broker.failure is not None:
        raise broker.failure
