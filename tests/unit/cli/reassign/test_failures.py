import io
from collections.abc import Mapping
from pathlib import Path

import pytest

from ballast.cli.reassign.failures import CommandFailed, TerseFailure
from ballast.cli.reassign.options import Action, ReassignOptions
from ballast.cli.reassign.reassign import reassign
from ballast.model.assignments import ReplicaAssignment
from ballast.model.ids import TopicPartition
from tests.fakes.cluster_admin import FakeAdmin, FakeCluster


class Failing(FakeAdmin):
    """Fails every listing."""

    failure: Exception

    async def list_reassignments(self) -> Mapping[TopicPartition, ReplicaAssignment]:
        raise self.failure


@pytest.mark.parametrize(
    ("failure", "said"),
    [(TerseFailure("enough"), "enough\n"), (CommandFailed("enough"), "Error: enough\n")],
)
async def test_each_is_said_in_its_way(failure: Exception, said: str) -> None:
    admin = Failing(FakeCluster(1))
    admin.failure = failure
    out = io.StringIO()
    options = ReassignOptions(
        action=Action.LIST,
        servers=(),
        file=Path("unused"),
        throttle=-1,
        log_dirs_throttle=-1,
        timeout_ms=0,
        additional=False,
        preserve_throttles=False,
    )
    assert await reassign(options, admin, out) == 1
    assert out.getvalue() == said
