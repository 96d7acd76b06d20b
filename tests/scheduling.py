"""Which tests one worker runs, because they share what takes long to start.

By the names of their files, since names are all that workers tell: with pytest 9.2 the groups of
``--dist loadgroup`` get lost (pytest-xdist, issue 1386).
"""

from xdist.scheduler import LoadGroupScheduling

TOGETHER = ("tests/interop/", "tests/unit/spark/")
"""Folders whose tests share a cluster, Kafka's tools, or a Spark session."""
ALONE = (
    "tests/interop/test_demo.py",
    "tests/interop/test_load_plans.py",
    "tests/interop/test_spark_load.py",
)
"""Modules in them that start what is theirs alone."""


def group_of(node_id: str) -> str:
    """Return the name of the group of a test: its own where it shares nothing."""
    for folder in TOGETHER:
        if node_id.startswith(folder) and not node_id.startswith(ALONE):
            return folder
    return node_id


class FolderScheduling(LoadGroupScheduling):  # type: ignore[misc]  # xdist tells no types
    """A worker gets all tests of a group, or one test."""

    def _split_scope(self, nodeid: str) -> str:
        return group_of(nodeid)
