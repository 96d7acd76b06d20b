"""Errors of the Kubernetes API, by what the caller can do about them."""


class KubernetesError(Exception):
    """The root of this package's errors."""


class ApiRefused(KubernetesError):
    """The API server refused a request; ``status`` is HTTP's, ``reason`` Kubernetes'."""

    def __init__(self, message: str, *, status: int = 0, reason: str = "") -> None:
        super().__init__(message)
        self.status = status
        self.reason = reason


class NotFound(ApiRefused):
    """The object, or its kind, does not exist."""


class AlreadyExists(ApiRefused):
    """An object of that name exists."""


class Conflict(ApiRefused):
    """The object has another version than the request names, or a field has another owner."""


class Forbidden(ApiRefused):
    """The service account has no right to do that."""


class Invalid(ApiRefused):
    """A field of the object is invalid."""


class Expired(ApiRefused):
    """The watch or page begins too far in the past: list again."""


class ApiUnavailable(KubernetesError):
    """There is no response, or one that asks to retry later; the outcome is unknown."""


class NoCredentials(KubernetesError):
    """Neither a service account nor a kubeconfig gives access to the API server."""


class LeaseLost(KubernetesError):
    """The Lease was not renewed in time: another process may act."""
