"""``ballast reassign``: the flags, files, messages and exit codes of kafka-reassign-partitions."""

import asyncio
import sys
from pathlib import Path
from random import SystemRandom
from typing import TextIO

from ballast.cli.clock import LoopClock, wall_clock_ms
from ballast.cli.reassign import actions
from ballast.cli.reassign.failures import CommandFailed, TerseFailure
from ballast.cli.reassign.generate import generate
from ballast.cli.reassign.options import (
    Action,
    GivenOptions,
    ReassignOptions,
    UsageError,
    check_options,
)
from ballast.net.admin.admin import AdminClient
from ballast.net.admin.cluster_connections import AdminOptions
from ballast.reassign.errors import ReassignmentFileRejected
from ballast.reassign.plan.kafka_json import parse_reassignment_json, parse_topics_json
from ballast.reassign.ports import ClusterAdmin, ClusterUnavailable

_MAX_FILE_BYTES = 64 * 1024 * 1024
_ADMIN_OPTIONS = AdminOptions(client_id="reassign-partitions-tool")


def main(
    *,
    bootstrap_server: str | None = None,
    execute: bool = False,
    verify: bool = False,
    cancel: bool = False,
    list_active: bool = False,
    generate_: bool = False,
    reassignment_json_file: Path | None = None,
    throttle: int | None = None,
    log_dirs_throttle: int | None = None,
    additional: bool = False,
    preserve_throttles: bool = False,
    timeout_ms: int | None = None,
    topics_to_move_json_file: Path | None = None,
    broker_list: str | None = None,
    disable_rack_aware: bool = False,
) -> int:
    """Run the command; return its exit code: 0, or 1 with a message."""
    chosen = {
        Action.GENERATE: generate_,
        Action.EXECUTE: execute,
        Action.VERIFY: verify,
        Action.CANCEL: cancel,
        Action.LIST: list_active,
    }
    given = GivenOptions(
        bootstrap_server=bootstrap_server,
        reassignment_json_file=reassignment_json_file,
        throttle=throttle,
        log_dirs_throttle=log_dirs_throttle,
        additional=additional,
        preserve_throttles=preserve_throttles,
        timeout_ms=timeout_ms,
        topics_to_move_json_file=topics_to_move_json_file,
        broker_list=broker_list,
        disable_rack_aware=disable_rack_aware,
    )
    try:
        options = check_options(chosen, given)
    except UsageError as error:
        sys.stderr.write(f"{error}\n")
        return 1

    async def connected() -> int:
        admin = AdminClient(options.servers, _ADMIN_OPTIONS)
        try:
            return await reassign(options, admin, sys.stdout)
        finally:
            await admin.close()

    return asyncio.run(connected())


async def reassign(options: ReassignOptions, admin: ClusterAdmin, out: TextIO) -> int:
    """Carry out one action on a cluster; return the exit code."""

    def say(line: str) -> None:
        out.write(f"{line}\n")

    try:
        await _act(options, admin, say)
    except TerseFailure as failure:
        say(str(failure))
        return 1
    except (CommandFailed, ReassignmentFileRejected, ClusterUnavailable) as error:
        say(f"Error: {error}")
        return 1
    return 0


async def _act(options: ReassignOptions, admin: ClusterAdmin, say: actions.Say) -> None:
    if options.action is Action.LIST:
        await actions.list_active(admin, say)
        return
    content = _read_file(options.file)
    if options.action is Action.GENERATE:
        await generate(
            admin,
            parse_topics_json(content),
            options.broker_list,
            say,
            is_rack_aware=options.is_rack_aware,
            random=SystemRandom(),
        )
        return
    proposed = parse_reassignment_json(content)
    clock = LoopClock(wall_clock_ms)
    if options.action is Action.EXECUTE:
        await actions.execute(
            admin,
            proposed,
            say,
            clock=clock,
            throttle=options.throttle,
            log_dirs_throttle=options.log_dirs_throttle,
            timeout_ms=options.timeout_ms,
            additional=options.additional,
        )
    elif options.action is Action.VERIFY:
        await actions.verify(
            admin, proposed, say, clock=clock, preserve_throttles=options.preserve_throttles
        )
    else:
        await actions.cancel(
            admin,
            proposed,
            say,
            clock=clock,
            timeout_ms=options.timeout_ms,
            preserve_throttles=options.preserve_throttles,
        )


def _read_file(path: Path | None) -> str:
    assert path is not None, "check_options demands a file for this action"
    try:
        with path.open("rb") as file:
            content = file.read(_MAX_FILE_BYTES + 1)
        if len(content) > _MAX_FILE_BYTES:
            raise CommandFailed(f"{path} is larger than {_MAX_FILE_BYTES} bytes")
        return content.decode()
    except OSError as error:
        raise CommandFailed(f"Unable to read file {path}") from error
    except UnicodeDecodeError as error:
        raise CommandFailed(f"{path} is not UTF-8") from error
