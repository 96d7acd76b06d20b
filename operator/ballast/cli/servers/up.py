"""``ballast up``: a cluster on this machine, in the foreground, until SIGINT or SIGTERM."""

import asyncio
import signal
import sys
from collections.abc import Sequence
from pathlib import Path

from ballast.broker.config.config import BrokerConfig
from ballast.broker.config.properties_file import parse_overrides
from ballast.cli.embedded.cluster import local_cluster
from ballast.cli.embedded.errors import EmbeddedError
from ballast.cli.embedded.layout import ClusterLayout
from ballast.cli.servers.candidate_config import CandidateConfig
from ballast.cli.servers.long_running import EXIT_BAD_CONFIGURATION, EXIT_FAILED
from ballast.model.settings.keys import ConfigError


def main(
    *,
    brokers: int,
    controllers: int,
    directory: Path,
    base_port: int,
    log_dirs: int,
    restart: bool,
    overrides: Sequence[str],
) -> int:
    """Run until stopped; 0 after a clean stop, 1 without a start, 2 for a bad override."""
    try:
        layout = ClusterLayout(
            directory=directory,
            brokers=brokers,
            controllers=controllers,
            base_port=base_port,
            log_dirs=log_dirs,
            overrides=parse_overrides(overrides),
        )
        for name in unknown_properties(layout):
            _say(f"{name} is not a property of a broker or a controller and is ignored")
        asyncio.run(_up(layout, restart=restart))
    except (ConfigError, ValueError) as error:
        print(f"ballast up: {error}", file=sys.stderr)
        return EXIT_BAD_CONFIGURATION
    except asyncio.CancelledError:
        # A second signal has ended the stop: the children that were left are killed by now.
        return EXIT_FAILED
    except EmbeddedError as error:
        print(f"ballast up: {error}", file=sys.stderr)
        return EXIT_FAILED
    return 0


def unknown_properties(layout: ClusterLayout) -> list[str]:
    """Return the overrides that neither brokers nor controllers know.

    Raises `ConfigError` for a value that one of them would refuse to start with.
    """
    _, of_broker = BrokerConfig.from_properties(layout.broker_properties(1))
    _, of_controller = CandidateConfig.from_properties(layout.controller_properties(1))
    return sorted(set(of_broker) & set(of_controller))


async def _up(layout: ClusterLayout, *, restart: bool) -> None:
    task = asyncio.current_task()
    assert task is not None, "a coroutine runs in a task"
    for number in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(number, task.cancel)
    async with local_cluster(layout, restart=restart, report=_say) as cluster:
        try:
            await cluster.start()
            _say(f"bootstrap.servers={layout.bootstrap_servers}")
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            # A second signal interrupts the stop: what is left is killed then.
            task.uncancel()
        _say("stopping")
        await cluster.stop()


def _say(line: str) -> None:
    print(line, flush=True)
