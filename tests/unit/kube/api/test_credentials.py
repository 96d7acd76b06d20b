"""Where the API server is, and as whom we come."""

import base64
from pathlib import Path
from typing import Any

import kopf
import pytest

from ballast.kube.api.credentials import (
    RENEWED_AFTER_S,
    Credentials,
    by_address,
    login,
    login_for_kopf,
)
from ballast.kube.api.errors import NoCredentials
from tests.fakes.clocks import YieldingClock

KUBECONFIG = """
current-context: here
contexts: [{name: here, context: {cluster: one, user: me}}]
clusters: [{name: one, cluster: {server: "https://10.0.0.1:6443/", insecure-skip-tls-verify: true}}]
users: [{name: me, user: {token: secret}}]
"""


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("KUBECONFIG", raising=False)
    return tmp_path


def test_a_kubeconfig(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = home / "config"
    file.write_text(KUBECONFIG)
    monkeypatch.setenv("KUBECONFIG", str(file))
    credentials = Credentials(login, YieldingClock())
    assert credentials.server == "https://10.0.0.1:6443"
    assert credentials.headers() == {"Authorization": "Bearer secret"}
    assert not credentials.ssl_context().check_hostname


@pytest.mark.usefixtures("home")
def test_nothing_to_go_by() -> None:
    with pytest.raises(NoCredentials, match="no service account and no KUBECONFIG"):
        login()


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(None, id="no file"),
        pytest.param("a: [", id="no YAML"),
        pytest.param("[1]", id="no map"),
        pytest.param("{}", id="no context"),
        pytest.param(KUBECONFIG.replace("user: me", "user: you"), id="no user"),
        pytest.param(KUBECONFIG.replace("server:", "port:"), id="no server"),
    ],
)
def test_a_kubeconfig_that_is_no_good(
    home: Path, monkeypatch: pytest.MonkeyPatch, text: str | None
) -> None:
    file = home / "config"
    if text is not None:
        file.write_text(text)
    monkeypatch.setenv("KUBECONFIG", str(file))
    with pytest.raises(NoCredentials):
        login()


@pytest.mark.parametrize(
    ("environment", "server"),
    [
        ({}, "https://kubernetes.default.svc"),
        ({"KUBERNETES_SERVICE_HOST": "10.0.0.1"}, "https://10.0.0.1:443"),
        (
            {"KUBERNETES_SERVICE_HOST": "fd00::1", "KUBERNETES_SERVICE_PORT": "6443"},
            "https://[fd00::1]:6443",
        ),
    ],
)
def test_in_a_cluster_the_api_server_is_known_by_its_address(
    environment: dict[str, str], server: str
) -> None:
    info = kopf.ConnectionInfo(server="https://kubernetes.default.svc")
    assert by_address(info, environment).server == server


class Tokens:
    """Gives another token each time."""

    def __init__(self) -> None:
        self.given = 0

    def __call__(self) -> kopf.ConnectionInfo:
        self.given += 1
        return kopf.ConnectionInfo(server="https://x", token=f"t{self.given}")


def bearer(credentials: Credentials) -> Any:
    return credentials.headers()["Authorization"]


def test_a_token_is_read_again() -> None:
    clock = YieldingClock()
    credentials = Credentials(Tokens(), clock)
    assert bearer(credentials) == "Bearer t1"
    clock.seconds += RENEWED_AFTER_S
    assert bearer(credentials) == "Bearer t2"
    assert bearer(credentials) == "Bearer t2"
    credentials.renew()
    assert bearer(credentials) == "Bearer t3"


def test_kopf_asks_again_for_a_token_but_not_for_a_certificate() -> None:
    assert login_for_kopf(Tokens()).expiration is not None
    data = base64.b64encode(b"cert").decode()
    by_certificate = kopf.ConnectionInfo(server="https://x", certificate_data=data)
    assert login_for_kopf(lambda: by_certificate).expiration is None
