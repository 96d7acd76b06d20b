from pathlib import Path

import pytest

from tests.scheduling import ALONE, TOGETHER, group_of

ROOT = Path(__file__).parent.parent


@pytest.mark.parametrize(
    ("node_id", "group"),
    [
        ("tests/interop/test_kcat.py::test_the_cluster_is_listed", "tests/interop/"),
        ("tests/interop/test_log_dirs.py::test_one[a]", "tests/interop/test_log_dirs.py"),
        ("tests/unit/spark/test_planning.py::test_one[a]", "tests/unit/spark/"),
        ("tests/interop/test_demo.py::test_the_demo", "tests/interop/test_demo.py::test_the_demo"),
        ("tests/unit/zk/test_client.py::test_one", "tests/unit/zk/test_client.py::test_one"),
    ],
)
def test_tests_that_share_something_are_one_group(node_id: str, group: str) -> None:
    assert group_of(node_id) == group


def test_what_is_named_exists() -> None:
    assert all((ROOT / name).exists() for name in (*TOGETHER, *ALONE))


def test_this_run_is_shared_out_so(request: pytest.FixtureRequest) -> None:
    """Workers know nothing of it: what shares it out is asked by the process that starts them."""
    hook = request.config.hook.pytest_xdist_make_scheduler
    assert [plugin.plugin_name for plugin in hook.get_hookimpls()][-1].endswith("tests/conftest.py")
