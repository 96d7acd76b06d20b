"""Which tests one worker runs, because they share what takes long to start.

By the names of their files, the only thing that workers report: with pytest 9.2 the groups of
``--dist loadgroup`` get lost (pytest-xdist, issue 1386).
"""

from xdist.scheduler import LoadGroupScheduling

TOGETHER = (
    "tests/interop/test_apache_kafka.py",
    "tests/interop/test_log_dirs.py",
    "tests/interop/test_reassign_tool.py",
    "tests/interop/",
    "tests/unit/spark/",
)
"""Modules and folders whose tests share a cluster, Kafka's tools, or a Spark session."""
ALONE = (
    "tests/interop/test_demo.py",
    "tests/interop/test_load_plans.py",
    "tests/interop/test_spark_load.py",
    "tests/interop/test_tutorials.py",
)
"""Modules in them whose every test starts what it needs."""


def group_of(node_id: str) -> str:
    """Return the name of the group of a test: its own where it shares nothing."""
    if node_id.startswith(ALONE):
        return node_id
    return next((group for group in TOGETHER if node_id.startswith(group)), node_id)


class FolderScheduling(LoadGroupScheduling):  # type: ignore[misc]  # xdist has no types
    """A worker gets all tests of a group, or one test."""

    def _split_scope(self, nodeid: str) -> str:
        return group_of(nodeid)
