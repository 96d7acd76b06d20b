from pathlib import Path

import pytest

from ballast.cli.run.state_dir import StateDir, StateDirUnusable
from ballast.reassign.errors import StateMismatch


async def test_what_is_saved_is_loaded_by_the_next_process(tmp_path: Path) -> None:
    with StateDir(tmp_path / "a" / "b") as first:
        assert await first.load() is None
        await first.save({"x": 1})
        await first.save({"x": 2})
    with StateDir(tmp_path / "a" / "b") as second:
        assert await second.load() == {"x": 2}


async def test_a_half_written_document_is_not_seen(tmp_path: Path) -> None:
    with StateDir(tmp_path) as store:
        await store.save({"x": 1})
        (tmp_path / "state.json.new").write_text('{"x"')
        assert await store.load() == {"x": 1}
        await store.save({"x": 3})
        assert await store.load() == {"x": 3}


def test_two_runs_do_not_share_a_folder(tmp_path: Path) -> None:
    first = StateDir(tmp_path)
    with first, pytest.raises(StateDirUnusable, match="in use by another run"), StateDir(tmp_path):
        pass
    with StateDir(tmp_path):
        pass


def test_a_folder_that_cannot_be_made(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(StateDirUnusable), StateDir(tmp_path / "file" / "x"):
        pass


@pytest.mark.parametrize("content", ["", "[]", "{", "[" * 100_000])
async def test_rubbish_is_refused(tmp_path: Path, content: str) -> None:
    (tmp_path / "state.json").write_text(content)
    with StateDir(tmp_path) as store, pytest.raises(StateMismatch):
        await store.load()
