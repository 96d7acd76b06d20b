"""Where the API server is and who we are to it: the pod's service account, or a kubeconfig.

A service account's token is a file that the kubelet replaces before it ends: it is read again after
`RENEWED_AFTER_S`, and at once when the API server does not accept it. kopf reads both sources.
"""

import os
import ssl
from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Final

import kopf

from ballast.kube.api.errors import NoCredentials
from ballast.reassign.ports import Clock

RENEWED_AFTER_S: Final = 60.0

Login = Callable[[], kopf.ConnectionInfo]


def login(environment: Mapping[str, str] = os.environ) -> kopf.ConnectionInfo:
    """Return the connection of the service account, or that of KUBECONFIG's current context.

    Raises `NoCredentials` when there is neither, or one that cannot be read.
    """
    settings = kopf.OperatorSettings()
    try:
        info = kopf.login_with_service_account(settings=settings)
        if info is not None:
            return by_address(info, environment)
        info = kopf.login_with_kubeconfig(settings=settings)
    except Exception as error:
        # Whatever in a file kopf stumbles over.
        raise NoCredentials(f"no way to the API server: {error}") from error
    if info is None or not info.server:
        raise NoCredentials("no way to the API server: no service account and no KUBECONFIG")
    return info


def by_address(info: kopf.ConnectionInfo, environment: Mapping[str, str]) -> kopf.ConnectionInfo:
    """Name the API server by its address: it must be reachable when the cluster's DNS is not.

    ``environment`` is that of a container, where the kubelet says what the address is.
    """
    host = environment.get("KUBERNETES_SERVICE_HOST")
    if not host:
        return info
    port = environment.get("KUBERNETES_SERVICE_PORT", "443")
    bracketed = f"[{host}]" if ":" in host else host
    return replace(info, server=f"https://{bracketed}:{port}")


class Credentials:
    """A connection whose token is renewed. Belongs to one event loop."""

    def __init__(self, login: Login, clock: Clock) -> None:
        self._login = login
        self._clock = clock
        self._info = login()
        self._read_at = clock.now()

    @property
    def server(self) -> str:
        """``https://HOST:PORT``."""
        return self._info.server.rstrip("/")

    def ssl_context(self) -> ssl.SSLContext:
        """Return a new context with the server's CA and the client's certificate, if it has one."""
        return self._info.as_ssl_context()

    def headers(self) -> Mapping[str, str]:
        """Return the headers that say who asks."""
        if self._clock.now() >= self._read_at + RENEWED_AFTER_S:
            self.renew()
        return self._info.as_http_headers()

    def renew(self) -> None:
        """Read the credentials again; raises `NoCredentials`."""
        self._info = self._login()
        self._read_at = self._clock.now()


def login_for_kopf(login: Login) -> kopf.ConnectionInfo:
    """Return a connection that kopf asks for again before a service account's token ends."""
    info = login()
    if info.token is None:
        return info
    return replace(info, expiration=datetime.now(UTC) + timedelta(seconds=10 * RENEWED_AFTER_S))
