"""What tests on a real Spark have in common."""

import pytest

ON_SPARK = [
    # pyspark's own: of sockets that its gateway leaves to the collector.
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
    pytest.mark.timeout(400),
]
