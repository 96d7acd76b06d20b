"""What Spark starts beside an executor, to fork the Python processes that compute from.

Spark puts an archive of pyspark before all that Python looks through. Nothing in it is compiled, so
each process would compile what it imports of it: a second, every time. The pyspark that is
installed here is the same, and compiled. Python also remembers archives it has looked into, and
reads their directories anew in each process as its first task begins.
"""

import signal
import sys
from importlib.machinery import PathFinder

ARCHIVES = ("pyspark.zip", "-src.zip", ".jar")
"""Ends of the names of Spark's archives: its own, py4j's, and Java's, which hold no Python."""


def without_archives(path: list[str]) -> list[str]:
    """Return where Python looks for modules without Spark's archives, if pyspark is there too."""
    others = [entry for entry in path if not entry.endswith(ARCHIVES)]
    return path if PathFinder.find_spec("pyspark", others) is None else others


def leave_archives() -> None:
    """Forget Spark's archives, if pyspark is elsewhere too."""
    archives = tuple(set(sys.path).difference(kept := without_archives(sys.path)))
    sys.path[:] = kept
    for place in [known for known in sys.path_importer_cache if known.startswith(archives)]:
        del sys.path_importer_cache[place]


if __name__ == "__main__":
    # Without it a process whose Java has just ended would tell of the broken pipe at length.
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    leave_archives()
    from pyspark.daemon import manager

    manager()
