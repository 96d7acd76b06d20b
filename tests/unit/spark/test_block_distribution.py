import pytest

pytest.importorskip("pyspark")

from pyspark.sql import SparkSession

from ballast.spark.block_distribution import distribute_texts
from tests.unit.spark.local import ON_SPARK

pytestmark = ON_SPARK


def test_pieces_come_together_where_blocks_are_computed(session: SparkSession) -> None:
    texts = distribute_texts(session, 3, [(2, b"c"), (0, b"a"), (2, b"d")])
    others = distribute_texts(session, 1, [(0, b"e")])
    laid = session.sparkContext.parallelize(range(3), 3)
    assert laid.map(texts).collect() == [b"a", b"", b"cd"]
    assert others.names[0] not in texts.names
