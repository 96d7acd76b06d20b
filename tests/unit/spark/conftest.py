"""One Spark session on two cores for all tests that need one."""

from collections.abc import Iterator

import pytest


@pytest.fixture(scope="session")
def session() -> Iterator[object]:
    module = pytest.importorskip("ballast.spark.session")
    with module.local_session("2") as session:
        yield session
