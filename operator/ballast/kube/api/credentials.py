"""Where the API server is and how this process authenticates to it.

In a pod the service account is used, elsewhere the current context of the kubeconfig: client
certificates, tokens, exec plugins and OIDC id-tokens. `kubernetes.aio.config` reads both; its
hook renews tokens before a request. kopf receives the same connection from `login_for_kopf`.

A service account's token is read again after a minute, because the kubelet replaces the file. A
client certificate is read once: a process that is to use a new one is restarted.
"""

import os
from collections.abc import Awaitable, Callable, Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from time import monotonic
from typing import Any, Final

import kopf
from kubernetes.aio.client import Configuration
from kubernetes.aio.config import ConfigException
from kubernetes.aio.config.incluster_config import (
    SERVICE_CERT_FILENAME,
    SERVICE_HOST_ENV_NAME,
    SERVICE_TOKEN_FILENAME,
    InClusterConfigLoader,
)
from kubernetes.aio.config.kube_config import KubeConfigLoader, KubeConfigMerger

from ballast.kube.api.errors import NoCredentials

TOKEN_LIFETIME_S: Final = 60.0
"""A token of a kubeconfig is read again after this time."""
KOPF_LOGIN_LIFETIME_S: Final = 600.0
BEARER_TOKEN: Final = "BearerToken"  # noqa: S105 - the name of the scheme in the package
"""Under which name a `Configuration` has the value of the ``Authorization`` header."""

Login = Callable[[], Awaitable[Configuration]]
"""Returns a new connection; raises `NoCredentials`."""


async def login(
    environment: Mapping[str, str] = os.environ,
    token_file: str = SERVICE_TOKEN_FILENAME,
    certificate_file: str = SERVICE_CERT_FILENAME,
    now: Callable[[], float] = monotonic,
) -> Configuration:
    """Return the connection of the service account, or that of the kubeconfig's current context.

    A pod names the API server by its address, so that it is reachable without the cluster's DNS.
    Raises `NoCredentials` when neither exists, or when one exists and cannot be read.
    """
    configuration = Configuration()
    try:
        if _has_service_account(environment, token_file):
            loader = InClusterConfigLoader(token_file, certificate_file, environ=environment)
            loader.load_and_set(configuration)
        else:
            await _load_kubeconfig(environment, configuration, now)
    except NoCredentials:
        raise
    except Exception as error:
        # A malformed file makes the package fail with errors of many kinds.
        raise NoCredentials(f"no way to the API server: {error}") from error
    if not configuration.host:
        raise NoCredentials("no way to the API server: the kubeconfig names no server")
    return configuration


async def login_for_kopf(login: Login) -> kopf.ConnectionInfo:
    """Return the connection in kopf's form; kopf asks for a new one before a token expires."""
    configuration = await login()
    header = (await configuration.auth_settings()).get(BEARER_TOKEN, {}).get("value") or ""
    scheme, _, token = header.partition(" ")
    lifetime = timedelta(seconds=KOPF_LOGIN_LIFETIME_S)
    return kopf.ConnectionInfo(
        server=configuration.host,
        ca_path=configuration.ssl_ca_cert,
        insecure=not configuration.verify_ssl,
        scheme=scheme or None,
        token=token or None,
        certificate_path=configuration.cert_file,
        private_key_path=configuration.key_file,
        proxy_url=configuration.proxy,
        expiration=datetime.now(UTC) + lifetime if token else None,
    )


def _has_service_account(environment: Mapping[str, str], token_file: str) -> bool:
    return bool(environment.get(SERVICE_HOST_ENV_NAME)) and Path(token_file).exists()


async def _load_kubeconfig(
    environment: Mapping[str, str], configuration: Configuration, now: Callable[[], float]
) -> None:
    paths = environment.get("KUBECONFIG") or str(Path.home() / ".kube" / "config")
    files = KubeConfigMerger(paths)
    if files.config is None:
        raise NoCredentials("no way to the API server: no service account and no KUBECONFIG")
    loader = _KubeConfigLoader(files.config, config_base_path=None)
    await loader.load_and_set(configuration)
    loaded_at = now()

    async def reload(current: Configuration) -> None:
        nonlocal loaded_at
        if now() >= loaded_at + TOKEN_LIFETIME_S:
            await loader.load_and_set(current)
            loaded_at = now()

    configuration.refresh_api_key_hook = reload


class _KubeConfigLoader(KubeConfigLoader):  # type: ignore[misc]  # the package has no types
    async def load_from_exec_plugin(self) -> bool:
        """Run the plugin if its credential has expired; one without expiry is kept."""
        if hasattr(self, "token") and not hasattr(self, "exec_plugin_expiry"):
            return True
        if not await super().load_from_exec_plugin():
            raise ConfigException("the exec plugin of the kubeconfig returns no credential")
        return True

    async def _refresh_oidc(self, provider: Any) -> None:
        # The package would send the client's secret without verifying the provider's certificate.
        del provider
        raise ConfigException("the OIDC id-token of the kubeconfig has expired: renew it")
