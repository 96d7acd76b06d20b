"""The process that Spark starts beside an executor, and from which it forks Python workers.

Spark puts an archive of pyspark first on Python's path. The archive contains no compiled files, so
each worker would compile what it imports: a second, every time. The pyspark installed here is the
same version, and compiled. Python also caches the directories of archives, and reads them again in
each worker as its first task begins.

"""

import signal
import sys
from importlib.machinery import PathFinder

ARCHIVES = ("pyspark.zip", "-src.zip", ".jar")
"""Suffixes of Spark's archives: its own, py4j's, and Java's, which contain no Python."""


def without_archives(path: list[str]) -> list[str]:
    """Return Python's path without Spark's archives, if pyspark is elsewhere on it too."""
    others = [entry for entry in path if not entry.endswith(ARCHIVES)]
    return path if PathFinder.find_spec("pyspark", others) is None else others


def leave_archives() -> None:
    """Remove Spark's archives, if pyspark is elsewhere too."""
    archives = tuple(set(sys.path).difference(kept := without_archives(sys.path)))
    sys.path[:] = kept
    for place in [known for known in sys.path_importer_cache if known.startswith(archives)]:
        del sys.path_importer_cache[place]


if __name__ == "__main__":
    # Without it, a worker whose Java process has just ended prints a long traceback (broken pipe).
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    leave_archives()
    from pyspark.daemon import manager

    manager()
