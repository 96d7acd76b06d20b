"""What Spark starts beside an executor, to fork the Python processes that compute from.

Spark puts an archive of pyspark before all that Python looks through. Nothing in it is compiled, so
each process would compile what it imports of it: a second, every time. The pyspark that is
installed here is the same, and compiled.
"""

import signal
import sys
from importlib.machinery import PathFinder

ARCHIVES = ("pyspark.zip", "-src.zip")
"""Ends of the names of Spark's archives: its own, and py4j's."""


def without_archives(path: list[str]) -> list[str]:
    """Return where Python looks for modules without Spark's archives, if pyspark is there too."""
    others = [entry for entry in path if not entry.endswith(ARCHIVES)]
    return path if PathFinder.find_spec("pyspark", others) is None else others


if __name__ == "__main__":
    # Without it a process whose Java has just ended would tell of the broken pipe at length.
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    sys.path[:] = without_archives(sys.path)
    from pyspark.daemon import manager

    manager()
