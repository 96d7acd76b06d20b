"""The properties of log directories."""

import pytest

from ballast.broker.config.config import BrokerConfig
from ballast.broker.errors import ConfigError

GIVEN = {"broker.id": "1", "log.dirs": "/logs", "zookeeper.connect": "zookeeper:2181"}
LOCK_TIMEOUT = "ballast.log.dir.lock.timeout.ms"


def test_a_local_process_refuses_a_directory_in_use_after_a_second() -> None:
    assert BrokerConfig.from_properties(GIVEN)[0].log_dir_lock_timeout_ms == 1000


@pytest.mark.parametrize("text", ["-1", "soon", ""])
def test_a_time_that_is_none_is_refused(text: str) -> None:
    with pytest.raises(ConfigError, match=LOCK_TIMEOUT):
        BrokerConfig.from_properties({**GIVEN, LOCK_TIMEOUT: text})
