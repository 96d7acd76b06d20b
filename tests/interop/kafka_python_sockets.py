"""What kafka-python leaves open when it is closed."""

import gc
import warnings


def collect_sockets() -> None:
    """Have the sockets closed that kafka-python leaves to the garbage collector.

    They are those of its wake-ups, and of brokers that were dead; collected later, they would be
    held against a test that has nothing to do with them.
    """
    with warnings.catch_warnings(action="ignore", category=ResourceWarning):
        gc.collect()
