"""What may go wrong with the Kubernetes API, told apart by what can be done about it."""


class KubernetesError(Exception):
    """The root of this package's errors."""


class ApiRefused(KubernetesError):
    """The API server answered with an error; ``status`` is HTTP's, ``reason`` Kubernetes'."""

    def __init__(self, message: str, *, status: int = 0, reason: str = "") -> None:
        super().__init__(message)
        self.status = status
        self.reason = reason


class NotFound(ApiRefused):
    """There is no such object, or no such kind."""


class AlreadyExists(ApiRefused):
    """An object of that name is there."""


class Conflict(ApiRefused):
    """The object is not at the version that was named, or a field has another owner."""


class Forbidden(ApiRefused):
    """The service account may not do that."""


class Invalid(ApiRefused):
    """The object is not one of its kind: a field is wrong."""


class Expired(ApiRefused):
    """The watch or page begins too far in the past: list again."""


class ApiUnavailable(KubernetesError):
    """No answer, or one that asks to come again later; nothing is known of the outcome."""


class NoCredentials(KubernetesError):
    """Neither a service account nor a kubeconfig says where the API server is."""


class LeaseLost(KubernetesError):
    """The Lease was not renewed in time: another process may act from now on."""
