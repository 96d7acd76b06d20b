"""``ballast run -f MANIFEST``: carry out a PartitionReassignment, without Kubernetes.

The manifest is read again whenever its file changes, so that editing ``desiredState`` or the
throttle works on the running move. Killed and run again, it goes on where the cluster stands.
"""

import asyncio
import signal
import sys
from collections.abc import Coroutine
from pathlib import Path

from ballast.cli.clock import LoopClock, wall_clock_ms
from ballast.cli.run.manifest_file import ManifestFile
from ballast.cli.run.progress_view import ProgressView, view_for
from ballast.cli.run.state_dir import StateDir, StateDirUnusable
from ballast.net.admin.admin import AdminClient
from ballast.net.admin.cluster_connections import AdminOptions, parse_bootstrap_servers
from ballast.reassign.errors import ManifestRejected, StateMismatch
from ballast.reassign.ports import Clock
from ballast.reassign.reconcile import Reconciler
from ballast.reassign.spec.spec import ReassignmentSpec
from ballast.reassign.state.conditions import LifecycleState

EXIT_SUCCEEDED = 0
EXIT_FAILED = 1
EXIT_BAD_MANIFEST = 2
EXIT_INTERRUPTED = 130

_ADMIN_OPTIONS = AdminOptions(
    client_id="ballast-run", request_timeout_s=10.0, connect_timeout_s=3.0, call_timeout_s=20.0
)


def main(
    *,
    file: Path,
    bootstrap_server: str,
    state_dir: Path | None = None,
    output: str = "text",
    poll_interval_s: float = 1.0,
) -> int:
    """Run the command; return its exit code."""
    try:
        servers = parse_bootstrap_servers(bootstrap_server)
        view = view_for(output, sys.stdout, sys.stderr)
        manifest = ManifestFile(file)
        spec = manifest.read()
    except ManifestRejected as rejected:
        for error in rejected.errors:
            _complain(f"{file}: {error}")
        return EXIT_BAD_MANIFEST
    except ValueError as error:
        _complain(str(error))
        return EXIT_BAD_MANIFEST

    async def connected(store: StateDir) -> int:
        admin = AdminClient(servers, _ADMIN_OPTIONS)
        clock = LoopClock(wall_clock_ms)
        reconciler = Reconciler(
            admin=admin, store=store, clock=clock, poll_interval_s=poll_interval_s
        )
        try:
            return await _until_interrupted(run(manifest, spec, reconciler, clock, view), view)
        finally:
            await admin.close()

    try:
        with StateDir(state_dir or default_state_dir(file, spec)) as store, view:
            return asyncio.run(connected(store))
    except (StateDirUnusable, StateMismatch) as error:
        _complain(str(error))
        return EXIT_BAD_MANIFEST


async def run(
    manifest: ManifestFile,
    spec: ReassignmentSpec,
    reconciler: Reconciler,
    clock: Clock,
    view: ProgressView,
) -> int:
    """Visit the reassignment until it has ended; return the exit code.

    Raises `StateMismatch` when the state folder belongs to another reassignment.
    """
    while True:
        spec = _reread(manifest, spec, view)
        visit = await reconciler.reconcile(spec)
        view.show(visit.status)
        if visit.requeue_after_s is None:
            return exit_code(visit.status.state)
        await clock.sleep(visit.requeue_after_s)


def exit_code(state: LifecycleState) -> int:
    """Return the exit code for the state in which a reassignment has ended."""
    if state is LifecycleState.COMPLETED:
        return EXIT_SUCCEEDED
    return EXIT_BAD_MANIFEST if state is LifecycleState.INVALID else EXIT_FAILED


def default_state_dir(file: Path, spec: ReassignmentSpec) -> Path:
    """Return the folder beside the manifest that holds what must be remembered."""
    return file.parent / f".{spec.name}.ballast"


def _reread(manifest: ManifestFile, spec: ReassignmentSpec, view: ProgressView) -> ReassignmentSpec:
    """Return the newest generation; an edit that is no good is reported and not taken over."""
    try:
        return manifest.reread() or spec
    except ManifestRejected as rejected:
        for error in rejected.errors:
            view.note(f"{manifest.path}: {error} (edit ignored)")
        return spec


async def _until_interrupted(work: Coroutine[None, None, int], view: ProgressView) -> int:
    """Await ``work``; SIGINT and SIGTERM end it, the reassignment in the cluster goes on."""
    loop = asyncio.get_running_loop()
    task = asyncio.current_task()
    assert task is not None, "a coroutine runs in a task"
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, task.cancel)
    try:
        return await work
    except asyncio.CancelledError:
        view.note("interrupted: what was submitted goes on; run the same command again to continue")
        return EXIT_INTERRUPTED
    finally:
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.remove_signal_handler(number)


def _complain(text: str) -> None:
    sys.stderr.write(f"error: {text}\n")
