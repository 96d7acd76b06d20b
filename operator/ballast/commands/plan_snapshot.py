"""``ballast plan snapshot``: a running cluster as ``ballast-snapshot/v1``, in a file."""

import asyncio
import sys
from pathlib import Path
from typing import TextIO

from ballast.commands.plan_files import FileUnusable, write_file
from ballast.net.admin import AdminClient
from ballast.net.cluster_connections import AdminOptions, parse_bootstrap_servers
from ballast.net.cluster_snapshot import take_snapshot
from ballast.planner.snapshot_lines import write_snapshot
from ballast.reassign.ports import ClusterAdmin, ClusterUnavailable

EXIT_DONE = 0
EXIT_FAILED = 1
EXIT_INVALID = 2

_ADMIN_OPTIONS = AdminOptions(client_id="ballast-plan")


def main(*, bootstrap_server: str, out: Path) -> int:
    """Run the command; return 0, 1 when the cluster does not answer, 2 when the input is wrong."""
    try:
        servers = parse_bootstrap_servers(bootstrap_server)
    except ValueError as error:
        sys.stderr.write(f"--bootstrap-server: {error}\n")
        return EXIT_INVALID

    async def connected() -> int:
        admin = AdminClient(servers, _ADMIN_OPTIONS)
        try:
            return await snapshot(admin, out, sys.stdout, sys.stderr)
        finally:
            await admin.close()

    return asyncio.run(connected())


async def snapshot(admin: ClusterAdmin, path: Path, out: TextIO, errors: TextIO) -> int:
    """Write a cluster's snapshot; return the exit code."""
    try:
        taken = await take_snapshot(admin, with_log_dirs=True)
        errors.writelines(
            f"sizes on broker {broker_id} are not known: {reason}\n"
            for broker_id, reason in taken.silent_brokers.items()
        )
        write_file(path, write_snapshot(taken.brokers, taken.topics()))
    except ClusterUnavailable as error:
        errors.write(f"the cluster does not answer: {error}\n")
        return EXIT_FAILED
    except FileUnusable as error:
        errors.write(f"{error}\n")
        return EXIT_INVALID
    out.write(f"{len(taken.brokers)} brokers, {taken.partitions} partitions: {path}\n")
    return EXIT_DONE
