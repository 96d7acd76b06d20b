"""``ballast controller``: one controller candidate of one cluster, until SIGINT or SIGTERM."""

import random
from collections.abc import Sequence
from pathlib import Path

from prometheus_client import CollectorRegistry

from ballast.candidate.candidate import Candidate
from ballast.candidate.metrics import CandidateCollector
from ballast.candidate.options import CandidateOptions, ControllerOptions, channel_options
from ballast.cli.clock import wall_clock_ms
from ballast.cli.servers.candidate_config import CandidateConfig
from ballast.cli.servers.long_running import run_process, stop_signals, unless_stopped
from ballast.net.http import Health, HttpServer
from ballast.zk.kazoo_adapter.client import KazooZooKeeperClient


def main(*, properties: Path | None, overrides: Sequence[str]) -> int:
    """Run the candidate; 0 after a stop, 1 after a failure, 2 for a bad configuration."""
    return run_process("controller", CandidateConfig.from_properties, _run, properties, overrides)


async def _run(config: CandidateConfig) -> None:
    stopped = stop_signals()
    candidate = Candidate(
        config.controller_id,
        lambda: KazooZooKeeperClient(
            config.zookeeper_connect, session_timeout_s=config.zookeeper_session_timeout_ms / 1000
        ),
        listen=config.listener,
        random=random.Random(),  # noqa: S311 - places replicas and makes topic ids, no secrets
        wall_clock_ms=wall_clock_ms,
        options=CandidateOptions(
            advertised=config.advertised_listener,
            channels=channel_options(config),
            controller=ControllerOptions(config=config),
        ),
    )
    http = await _health(candidate, config)
    try:
        await unless_stopped(candidate.run(), stopped)
    finally:
        if http is not None:
            await http.close()


async def _health(candidate: Candidate, config: CandidateConfig) -> HttpServer | None:
    if config.http_listener is None:
        return None
    registry = CollectorRegistry()
    registry.register(CandidateCollector(candidate))
    http = HttpServer(
        Health(
            unhealthy=lambda: None,
            # A candidate is ready when it can be elected: its endpoint must be open.
            unready=lambda: None if candidate.port else "the endpoint is not open yet",
            registry=registry,
        )
    )
    await http.start(*config.http_listener)
    return http
