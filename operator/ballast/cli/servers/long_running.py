"""What the long-running commands share: properties, the log, the loop, and how they end."""

import asyncio
import gc
import logging
import signal
import sys
from collections.abc import Callable, Coroutine, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

import uvloop

from ballast.broker.config.properties_file import parse_overrides, parse_properties
from ballast.broker.errors import StartupRefused
from ballast.model.settings.keys import ConfigError
from ballast.net.logs import log_to

log = logging.getLogger(__name__)

EXIT_FAILED = 1
EXIT_BAD_CONFIGURATION = 2

COLLECT_AFTER = 10_000
"""Objects made, and not gone by themselves, that are searched for cycles (Python: 700)."""

ConfigT = TypeVar("ConfigT")


def run_process(
    command: str,
    configure: Callable[[Mapping[str, str]], tuple[ConfigT, Mapping[str, str]]],
    run: Callable[[ConfigT], Coroutine[None, None, None]],
    properties: Path | None,
    overrides: Sequence[str],
) -> int:
    """Run a process: 0 after a stop, 1 after a failure, 2 for a bad configuration.

    ``configure`` returns the configuration, and why which properties have no effect; it raises
    `ConfigError`, which names the property.
    """
    try:
        config, without_effect = configure(read_properties(properties, overrides))
    except (ConfigError, OSError, ValueError) as error:
        print(f"ballast {command}: {error}", file=sys.stderr)
        return EXIT_BAD_CONFIGURATION
    log_to(sys.stderr)
    collect_seldom()
    for name, reason in without_effect.items():
        log.warning("%s is ignored: %s", name, reason)
    try:
        uvloop.run(run(config))
    except BaseExceptionGroup as errors:
        refused, others = errors.split(StartupRefused)
        if others is not None or refused is None:
            log.exception("the process ends because of an error")
        else:
            log.error("it does not start: %s", _first(refused))  # noqa: TRY400 - no defect
        return EXIT_FAILED
    except Exception:
        log.exception("the process ends because of an error")
        return EXIT_FAILED
    return 0


def _first(errors: BaseExceptionGroup[StartupRefused]) -> BaseException:
    first: BaseException = errors
    while isinstance(first, BaseExceptionGroup):
        first = first.exceptions[0]
    return first


def collect_seldom() -> None:
    """Search for garbage seldom, and never among what the process was started with.

    Partitions and what is known of them come by the ten thousand and stay: a third of the time that
    a failover takes would go into looking through them again and again.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(COLLECT_AFTER)


def read_properties(path: Path | None, overrides: Sequence[str]) -> Mapping[str, str]:
    """Return a file's properties with ``NAME=VALUE`` overrides on top.

    Raises `ConfigError`, `OSError` and, for an override, `ValueError`.
    """
    properties = {} if path is None else parse_properties(path.read_text())
    return {**properties, **parse_overrides(overrides)}


def stop_signals() -> asyncio.Event:
    """Return an event that SIGTERM and SIGINT set."""
    stopped = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, stopped.set)
    return stopped


async def unless_stopped(work: Coroutine[Any, Any, object], stopped: asyncio.Event) -> bool:
    """Await ``work`` and return True, or cancel it as soon as ``stopped`` is set: False.

    Raises what ``work`` raises, in an `ExceptionGroup`.
    """
    async with asyncio.TaskGroup() as tasks:
        working = tasks.create_task(work)
        watching = tasks.create_task(stopped.wait())
        await asyncio.wait((working, watching), return_when=asyncio.FIRST_COMPLETED)
        has_ended = working.done()
        working.cancel()
        watching.cancel()
    return has_ended
