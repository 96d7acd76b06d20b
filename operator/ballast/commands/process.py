"""What the long-running commands share: properties, the log, the loop, and how they end."""

import asyncio
import datetime
import logging
import signal
import sys
from collections.abc import Coroutine, Mapping, Sequence
from pathlib import Path

import uvloop

from ballast.broker.errors import ConfigError
from ballast.broker.properties_file import parse_properties
from ballast.commands.overrides import parse_overrides
from ballast.net.logs import log_to

log = logging.getLogger(__name__)

EXIT_BAD_CONFIGURATION = 2


def read_properties(path: Path | None, overrides: Sequence[str]) -> Mapping[str, str]:
    """Return a file's properties with ``NAME=VALUE`` overrides on top.

    Raises `ConfigError`, `OSError` and, for an override, `ValueError`.
    """
    properties = {} if path is None else parse_properties(path.read_text())
    return {**properties, **parse_overrides(overrides)}


def wall_clock_ms() -> int:
    """Return milliseconds since 1970 UTC."""
    return int(datetime.datetime.now(datetime.UTC).timestamp() * 1000)


def serve(main: Coroutine[None, None, None]) -> int:
    """Run a server's coroutine under uvloop, with its log as JSON on standard error.

    Returns 0 when it ended by itself, 1 when it failed.
    """
    log_to(sys.stderr)
    try:
        uvloop.run(main)
    except Exception:
        log.exception("the process ends because of an error")
        return 1
    return 0


def refuse(command: str, error: Exception) -> int:
    """Say why a configuration cannot be used and return the exit code."""
    print(f"ballast {command}: {error}", file=sys.stderr)
    return EXIT_BAD_CONFIGURATION


def stop_signals() -> asyncio.Event:
    """Return an event that SIGTERM and SIGINT set."""
    stopped = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, stopped.set)
    return stopped


BAD_CONFIGURATION = (ConfigError, OSError, ValueError)
"""What reading a configuration may raise."""
