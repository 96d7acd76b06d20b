"""Where the processes that Spark starts take pyspark from."""

from pathlib import Path

import pytest

from ballast.spark.daemon import without_archives

ARCHIVES = ["/opt/spark/python/lib/pyspark.zip", "/opt/spark/python/lib/py4j-0.10.9.9-src.zip"]


@pytest.mark.parametrize("archives", [ARCHIVES, []])
def test_an_installed_pyspark_comes_before_the_archives(
    tmp_path: Path, archives: list[str]
) -> None:
    (tmp_path / "pyspark").mkdir()
    (tmp_path / "pyspark" / "__init__.py").touch()
    others = ["/elsewhere", str(tmp_path)]
    assert without_archives([*archives, *others]) == others


def test_where_none_is_installed_the_archives_stay(tmp_path: Path) -> None:
    path = [*ARCHIVES, str(tmp_path)]
    assert without_archives(path) == path
