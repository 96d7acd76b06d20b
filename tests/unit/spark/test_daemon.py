"""Where the processes that Spark starts take pyspark from."""

import sys
from importlib.util import find_spec
from pathlib import Path
from zipfile import ZipFile

import pytest

from ballast.spark.daemon import leave_archives, without_archives

ARCHIVES = [
    "/opt/spark/python/lib/pyspark.zip",
    "/opt/spark/python/lib/py4j-0.10.9.9-src.zip",
    "/opt/spark/jars/spark-core_2.13-4.3.0.jar",
]


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


def test_archives_that_were_looked_into_are_forgotten(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("pyspark")
    archive = tmp_path / "pyspark.zip"
    with ZipFile(archive, "w") as written:
        written.writestr("archived/__init__.py", "")
    before = list(sys.path)
    monkeypatch.setattr(sys, "path", [str(archive), *before])
    monkeypatch.setattr(sys, "path_importer_cache", dict(sys.path_importer_cache))
    assert find_spec("archived") is not None
    assert str(archive) in sys.path_importer_cache
    leave_archives()
    assert sys.path == before
    assert str(archive) not in sys.path_importer_cache
    assert set(before) & set(sys.path_importer_cache)
