"""A change of the ensemble that cannot be made; those that are made are in tests/ensembles."""

import pytest

from ballast.zk.ensemble_changes import change_ensemble
from ballast.zk.errors import RequestFailed


async def test_a_server_that_does_not_answer_is_a_change_that_failed() -> None:
    with pytest.raises(RequestFailed, match="list of servers"):
        await change_ensemble(
            "127.0.0.1:1", "password", joining="", leaving="2", version=1, timeout_s=0.01
        )
