"""One process of the program, from its start to a signal."""

import signal
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path

ROOT = Path(__file__).parent.parent.parent.parent
TIMEOUT_S = 30.0


def until_stopped(
    command: str, properties: Mapping[str, str], folder: Path, number: signal.Signals
) -> int:
    """Start a process; once it listens for signals, signal it and return its exit code."""
    file = folder / "process.properties"
    file.write_text("".join(f"{name}={value}\n" for name, value in properties.items()))
    with subprocess.Popen(
        [sys.executable, "-m", "ballast", command, str(file)],
        env={"PYTHONPATH": str(ROOT / "operator")},
        stderr=subprocess.DEVNULL,
    ) as process:
        try:
            _until_signals_are_caught(process.pid)
            process.send_signal(number)
            return process.wait(TIMEOUT_S)
        finally:
            process.kill()


def _until_signals_are_caught(pid: int) -> None:
    """Wait until a process has its own handlers of SIGINT and SIGTERM (SigCgt in /proc)."""
    both = 1 << (signal.SIGINT - 1) | 1 << (signal.SIGTERM - 1)
    deadline = time.monotonic() + TIMEOUT_S
    while time.monotonic() < deadline:
        for line in Path(f"/proc/{pid}/status").read_text().splitlines():
            name, _, mask = line.partition(":")
            if name == "SigCgt" and int(mask, 16) & both == both:
                return
        time.sleep(0.01)
    raise AssertionError("the process never listened for signals")
