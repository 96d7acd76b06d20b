import io
from pathlib import Path

import pytest

from ballast.cli.reassign import reassign as command
from ballast.cli.reassign.options import Action, ReassignOptions
from ballast.model.ids import TopicPartition
from tests.fakes.cluster_admin import FakeAdmin, FakeCluster

PLAN = '{"version":1,"partitions":[{"topic":"t","partition":0,"replicas":[2,3]}]}'


class Tool:
    def __init__(self, folder: Path) -> None:
        self.cluster = FakeCluster(1, 2, 3, copy_rate=1.0)
        self.cluster.add("t", 0, 1, 2)
        self.admin = FakeAdmin(self.cluster)
        self.file = folder / "plan.json"
        self.file.write_text(PLAN)

    async def run(self, action: Action, broker_list: str = "") -> tuple[int, str]:
        options = ReassignOptions(
            action=action,
            servers=(("localhost", 1),),
            file=self.file,
            throttle=-1,
            log_dirs_throttle=-1,
            timeout_ms=0,
            additional=False,
            preserve_throttles=False,
            broker_list=broker_list,
        )
        out = io.StringIO()
        code = await command.reassign(options, self.admin, out)
        return code, out.getvalue()


async def test_each_action_and_its_exit_code(tmp_path: Path) -> None:
    tool = Tool(tmp_path)
    code, out = await tool.run(Action.EXECUTE)
    assert (code, out.splitlines()[-1]) == (
        0,
        "Successfully started partition reassignment for t-0",
    )
    assert (await tool.run(Action.LIST))[0] == 0
    assert (await tool.run(Action.VERIFY))[0] == 0
    code, out = await tool.run(Action.EXECUTE)
    assert code == 1
    assert out.startswith("Cannot execute because there is an existing partition assignment.  Use")
    assert (await tool.run(Action.CANCEL))[0] == 0
    assert tool.cluster.replicas()[TopicPartition("t", 0)] == (2, 1)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (PLAN.replace("3", "9"), "Error: Unknown broker id 9\n"),
        ('{"version":7}', "Error: Not supported version field value 7\n"),
        ("{}", "Error: Partition reassignment list cannot be empty\n"),
    ],
)
async def test_errors_are_said_and_end_with_1(tmp_path: Path, content: str, message: str) -> None:
    tool = Tool(tmp_path)
    tool.file.write_text(content)
    assert await tool.run(Action.EXECUTE) == (1, message)


async def test_a_proposal(tmp_path: Path) -> None:
    tool = Tool(tmp_path)
    tool.file.write_text('{"topics":[{"topic":"t"}],"version":1}')
    code, out = await tool.run(Action.GENERATE, broker_list="3,1")
    assert code == 0
    assert out.splitlines()[3] == "Proposed partition reassignment configuration"
    assert tool.cluster.replicas()[TopicPartition("t", 0)] == (1, 2)
    tool.file.write_text('{"topics":[{}]}')
    assert await tool.run(Action.GENERATE) == (1, "Error: No such field exists: `topic`\n")


async def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    tool = Tool(tmp_path)
    tool.file.write_bytes(b"\xff")
    assert await tool.run(Action.VERIFY) == (1, f"Error: {tool.file} is not UTF-8\n")
    tool.file.unlink()
    assert await tool.run(Action.VERIFY) == (1, f"Error: Unable to read file {tool.file}\n")


async def test_a_cluster_that_does_not_answer(tmp_path: Path) -> None:
    tool = Tool(tmp_path)
    tool.admin.is_available = False
    assert await tool.run(Action.LIST) == (1, "Error: no broker answers\n")


def test_options_that_do_not_fit(capsys: pytest.CaptureFixture[str]) -> None:
    assert command.main(execute=True) == 1
    assert capsys.readouterr().err == "Please specify --bootstrap-server\n"
