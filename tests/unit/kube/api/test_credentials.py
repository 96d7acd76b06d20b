"""Where the API server is, and how the operator authenticates to it."""

import base64
import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from kubernetes.aio.client import Configuration

from ballast.kube.api.credentials import (
    BEARER_TOKEN,
    TOKEN_LIFETIME_S,
    login,
    login_for_kopf,
)
from ballast.kube.api.errors import NoCredentials

KUBECONFIG = """
current-context: here
contexts: [{name: here, context: {cluster: one, user: me}}]
clusters: [{name: one, cluster: {server: "https://10.0.0.1:6443/", insecure-skip-tls-verify: true}}]
users: [{name: me, user: {token: secret}}]
"""


async def authorization(configuration: Configuration) -> Any:
    return (await configuration.auth_settings())[BEARER_TOKEN]["value"]


def kubeconfig(folder: Path, user: str = "{token: secret}") -> Mapping[str, str]:
    """Write a kubeconfig; return the environment that names it."""
    file = folder / "config"
    file.write_text(KUBECONFIG.replace("{token: secret}", user))
    return {"KUBECONFIG": str(file)}


class Account:
    """A service account as the kubelet mounts it."""

    def __init__(self, folder: Path) -> None:
        self.token = folder / "token"
        self.token.write_text("secret")
        self.certificate = folder / "ca.crt"
        self.certificate.write_text("a certificate")

    async def login(self, environment: Mapping[str, str]) -> Configuration:
        return await login(environment, str(self.token), str(self.certificate))


async def test_a_kubeconfig(tmp_path: Path) -> None:
    configuration = await login(kubeconfig(tmp_path))
    assert configuration.host == "https://10.0.0.1:6443"
    assert await authorization(configuration) == "Bearer secret"
    assert not configuration.verify_ssl


@pytest.mark.parametrize(
    ("environment", "server"),
    [
        (
            {"KUBERNETES_SERVICE_HOST": "10.0.0.1", "KUBERNETES_SERVICE_PORT": "443"},
            "https://10.0.0.1:443",
        ),
        (
            {"KUBERNETES_SERVICE_HOST": "fd00::1", "KUBERNETES_SERVICE_PORT": "6443"},
            "https://[fd00::1]:6443",
        ),
    ],
)
async def test_a_pod_names_the_api_server_by_its_address(
    tmp_path: Path, environment: dict[str, str], server: str
) -> None:
    account = Account(tmp_path)
    configuration = await account.login({**environment, **kubeconfig(tmp_path)})
    assert configuration.host == server
    assert configuration.ssl_ca_cert == str(account.certificate)
    assert await authorization(configuration) == "bearer secret"


async def test_outside_a_pod_the_service_account_is_not_used(tmp_path: Path) -> None:
    configuration = await Account(tmp_path).login(kubeconfig(tmp_path))
    assert configuration.host == "https://10.0.0.1:6443"


async def test_neither_service_account_nor_kubeconfig(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    with pytest.raises(NoCredentials, match="no service account and no KUBECONFIG"):
        await login({})


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
async def test_an_unusable_kubeconfig(tmp_path: Path, text: str | None) -> None:
    file = tmp_path / "config"
    if text is not None:
        file.write_text(text)
    with pytest.raises(NoCredentials):
        await login({"KUBECONFIG": str(file)})


async def test_an_unusable_service_account(tmp_path: Path) -> None:
    account = Account(tmp_path)
    account.certificate.unlink()
    with pytest.raises(NoCredentials, match="certification file"):
        await account.login({"KUBERNETES_SERVICE_HOST": "x", "KUBERNETES_SERVICE_PORT": "1"})


async def test_a_token_is_read_again_after_its_lifetime(tmp_path: Path) -> None:
    token = tmp_path / "token"
    token.write_text("one")
    now = 0.0
    environment = kubeconfig(tmp_path, f"{{tokenFile: {token}}}")
    configuration = await login(environment, now=lambda: now)
    token.write_text("two")
    now = TOKEN_LIFETIME_S - 1
    assert await authorization(configuration) == "Bearer one"
    now = TOKEN_LIFETIME_S
    assert await authorization(configuration) == "Bearer two"


def plugin(folder: Path, status: Mapping[str, str], exit_code: int = 0) -> str:
    """Return a user whose exec plugin counts its runs in the file ``runs``."""
    api_version = "client.authentication.k8s.io/v1"
    credential = {"apiVersion": api_version, "kind": "ExecCredential", "status": status}
    lines = (
        f"open({str(folder / 'runs')!r}, 'a').write('.')",
        f"print({json.dumps(json.dumps(credential))})",
        f"raise SystemExit({exit_code})",
    )
    arguments = ["-c", "\n".join(lines)]
    return json.dumps(
        {"exec": {"apiVersion": api_version, "command": sys.executable, "args": arguments}}
    )


@pytest.mark.parametrize(
    ("expiry", "runs"),
    [({}, 1), ({"expirationTimestamp": "2020-01-01T00:00:00Z"}, 2)],
)
async def test_an_exec_plugin_runs_again_when_its_token_has_expired(
    tmp_path: Path, expiry: Mapping[str, str], runs: int
) -> None:
    now = 0.0
    environment = kubeconfig(tmp_path, plugin(tmp_path, {"token": "fresh", **expiry}))
    configuration = await login(environment, now=lambda: now)
    now = TOKEN_LIFETIME_S
    assert await authorization(configuration) == "Bearer fresh"
    assert (tmp_path / "runs").read_text() == "." * runs


async def test_an_exec_plugin_that_fails(tmp_path: Path) -> None:
    environment = kubeconfig(tmp_path, plugin(tmp_path, {"token": "x"}, exit_code=1))
    with pytest.raises(NoCredentials, match="exec plugin"):
        await login(environment)


def oidc(expires: int) -> str:
    claims = base64.urlsafe_b64encode(json.dumps({"exp": expires}).encode()).decode().rstrip("=")
    config = {"id-token": f"a.{claims}.b", "refresh-token": "r", "client-id": "c"}
    return json.dumps({"auth-provider": {"name": "oidc", "config": config}})


@pytest.mark.filterwarnings("ignore:datetime.datetime.utc:DeprecationWarning")
async def test_an_oidc_token_is_used_until_it_expires(tmp_path: Path) -> None:
    configuration = await login(kubeconfig(tmp_path, oidc(expires=4_000_000_000)))
    assert (await authorization(configuration)).startswith("Bearer a.")
    with pytest.raises(NoCredentials, match="has expired"):
        await login(kubeconfig(tmp_path, oidc(expires=1_000_000_000)))


async def test_kopf_receives_the_same_connection(tmp_path: Path) -> None:
    async def by_token() -> Configuration:
        return await login(kubeconfig(tmp_path))

    info = await login_for_kopf(by_token)
    assert info.server == "https://10.0.0.1:6443"
    assert info.as_http_headers() == {"Authorization": "Bearer secret"}
    assert info.insecure
    assert info.expiration is not None


async def test_kopf_keeps_a_connection_by_certificate() -> None:
    async def by_certificate() -> Configuration:
        return Configuration(host="https://x", cert_file="a", key_file="b")

    info = await login_for_kopf(by_certificate)
    assert (info.certificate_path, info.private_key_path) == ("a", "b")
    assert (info.token, info.expiration) == (None, None)
