"""The commands of docs/tutorials/kubernetes.md, in order, in a namespace of their own."""

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.e2e.cluster import IMAGE, ROOT, SPARK_IMAGE, call
from tests.e2e.installation import RELEASE
from tests.tutorials import blocks_of, replaced

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(1200)]

NAMESPACE = "ballast-e2e-tutorial"
COMMANDS_TIMEOUT_S = 400


@pytest.fixture
def kubeconfig(kubernetes: tuple[str, ...], tmp_path: Path) -> Iterator[Path]:
    """Return a copy of KUBECONFIG, whose current namespace the commands may change."""
    assert kubernetes
    copy = tmp_path / "kubeconfig"
    shutil.copy(os.environ["KUBECONFIG"], copy)
    yield copy
    call("helm", "uninstall", RELEASE, "-n", NAMESPACE, "--ignore-not-found", timeout_s=330)
    call("kubectl", "delete", "namespace", NAMESPACE, "--ignore-not-found", timeout_s=330)


def test_its_commands(kubeconfig: Path) -> None:
    repository, _, tag = IMAGE.rpartition(":")
    spark_repository, _, spark_tag = SPARK_IMAGE.rpartition(":")
    settings = (
        f"image.repository={repository}",
        f"image.tag={tag}",
        f"zookeeper.image.repository={spark_repository}",
        f"zookeeper.image.tag={spark_tag}",
    )
    replace = {
        "namespace kafka": f"namespace {NAMESPACE}",
        "namespace=kafka": f"namespace={NAMESPACE}",
        "--skip-crds": " ".join(["--skip-crds", *(f"--set {setting}" for setting in settings)]),
        "--image=ballast:dev": f"--image={IMAGE}",
    }
    titles = []
    for block in blocks_of("kubernetes.md"):
        titles.append(block.title)
        program = f"cd {ROOT}\nexport KUBECONFIG={kubeconfig}\n{replaced(block.text, replace)}"
        printed = call("bash", "-e", "-c", program, timeout_s=COMMANDS_TIMEOUT_S)
        if "get preassign" in block.text:
            assert "Completed" in printed
    assert titles == ["install", "brokers", "move", "move", "remove"]
