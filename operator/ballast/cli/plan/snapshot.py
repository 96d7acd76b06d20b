"""``ballast plan snapshot``: a running cluster as ``ballast-snapshot/v1``, in a file."""

import asyncio
import re
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TextIO

from ballast.cli import clock
from ballast.cli.plan.capacities import (
    Capacities,
    CapacityRejected,
    read_capacities,
    with_capacities,
)
from ballast.cli.plan.files import FileUnusable, write_file
from ballast.model.load_features import MAX_GROWTH_SECONDS, MIN_GROWTH_SECONDS, LoadFeatures
from ballast.net.admin.admin import AdminClient
from ballast.net.admin.cluster_connections import AdminOptions, parse_bootstrap_servers
from ballast.net.admin.cluster_snapshot import take_snapshot
from ballast.net.admin.load_rates import LoadRates, LoadWindow, read_rates
from ballast.planner.snapshot.lines import write_snapshot
from ballast.reassign.ports import ClusterAdmin, ClusterUnavailable, LoadHistoryTooLarge

EXIT_DONE = 0
EXIT_FAILED = 1
EXIT_INVALID = 2

_ADMIN_OPTIONS = AdminOptions(client_id="ballast-plan")
_TIME = re.compile(r"([1-9][0-9]{0,8})([smhd])")
_UNIT_MS = {"s": 1000, "m": 60_000, "h": 3_600_000, "d": 86_400_000}


class _NoHistory(Exception):
    """There are no rates for the snapshot; the message says why."""


def main(
    *,
    bootstrap_server: str,
    out: Path,
    load_window: str | None = None,
    load_percentile: int | None = None,
    load_by_hour_of_day: bool = False,
    load_growth: str | None = None,
    capacity: Sequence[str] = (),
) -> int:
    """Run the command; return 0, 1 when the cluster does not answer, 2 when the input is wrong."""
    try:
        servers = parse_bootstrap_servers(bootstrap_server)
    except ValueError as error:
        sys.stderr.write(f"--bootstrap-server: {error}\n")
        return EXIT_INVALID
    try:
        window = read_window(
            load_window, load_percentile, by_hour_of_day=load_by_hour_of_day, growth=load_growth
        )
    except ValueError as error:
        sys.stderr.write(f"{error}\n")
        return EXIT_INVALID
    try:
        capacities = read_capacities(capacity)
    except CapacityRejected as error:
        sys.stderr.write(f"--capacity: {error}\n")
        return EXIT_INVALID

    async def connected() -> int:
        admin = AdminClient(servers, _ADMIN_OPTIONS)
        try:
            return await snapshot(admin, out, sys.stdout, sys.stderr, window, capacities=capacities)
        finally:
            await admin.close()

    return asyncio.run(connected())


def read_window(
    length: str | None,
    percentile: int | None = None,
    *,
    by_hour_of_day: bool = False,
    growth: str | None = None,
) -> LoadWindow | None:
    """Return which part of the history of load is asked for, and what of it.

    Raises `ValueError`, whose message begins with the name of the option.
    """
    if length is None:
        needing = {
            "--load-percentile": percentile is not None,
            "--load-by-hour-of-day": by_hour_of_day,
            "--load-growth": growth is not None,
        }
        for name, is_given in needing.items():
            if is_given:
                raise ValueError(f"--load-window: is required by {name}")
        return None
    features = LoadFeatures(
        percentile=percentile,
        by_hour_of_day=by_hour_of_day,
        growth_seconds=None if growth is None else _growth_seconds(growth),
    )
    return LoadWindow(length_ms=_time_ms("--load-window", length), features=features)


def _growth_seconds(text: str) -> int:
    seconds = _time_ms("--load-growth", text) // 1000
    if not MIN_GROWTH_SECONDS <= seconds <= MAX_GROWTH_SECONDS:
        raise ValueError(f"--load-growth: not from 60s to 365d: {text!r}")
    return seconds


def _time_ms(option: str, text: str) -> int:
    form = _TIME.fullmatch(text)
    if form is None:
        raise ValueError(f"{option}: not a time such as 30m, 1h or 7d: {text!r}")
    return int(form[1]) * _UNIT_MS[form[2]]


async def snapshot(
    admin: ClusterAdmin,
    path: Path,
    out: TextIO,
    errors: TextIO,
    window: LoadWindow | None = None,
    wall_clock_ms: Callable[[], int] = clock.wall_clock_ms,
    *,
    capacities: Capacities | None = None,
) -> int:
    """Write a cluster's snapshot, with rates where a window is given; return the exit code."""
    try:
        rates = None if window is None else await _rates(admin, window, wall_clock_ms())
        taken = await take_snapshot(admin, with_log_dirs=True)
        errors.writelines(
            f"sizes on broker {broker_id} are not known: {reason}\n"
            for broker_id, reason in taken.silent_brokers.items()
        )
        brokers = with_capacities(taken.brokers, capacities or {})
        write_file(path, write_snapshot(brokers, taken.topics(rates)))
    except ClusterUnavailable as error:
        errors.write(f"the cluster does not answer: {error}\n")
        return EXIT_FAILED
    except (LoadHistoryTooLarge, _NoHistory) as error:
        errors.write(f"--load-window: {error}\n")
        return EXIT_FAILED
    except CapacityRejected as error:
        errors.write(f"--capacity: {error}\n")
        return EXIT_INVALID
    except FileUnusable as error:
        errors.write(f"{error}\n")
        return EXIT_INVALID
    out.write(f"{len(taken.brokers)} brokers, {taken.partitions} partitions: {path}\n")
    if rates is not None:
        out.write(f"with the load of {rates.history.span_ms // 1000} s\n")
    return EXIT_DONE


async def _rates(admin: ClusterAdmin, window: LoadWindow, now_ms: int) -> LoadRates:
    rates = await read_rates(admin, window, now_ms)
    if rates is None:
        raise _NoHistory(
            f"__ballast_load has no samples of the last {window.length_ms // 1000} s: brokers "
            "write them every ballast.load.sample.interval.ms, unless that is 0"
        )
    return rates
