"""Where the API server has an object: ``/apis/GROUP/VERSION/namespaces/NAMESPACE/PLURAL/NAME``."""

from urllib.parse import quote

from ballast.kube.api.resources import Resource


def path_of(
    resource: Resource, namespace: str | None, name: str = "", subresource: str = ""
) -> str:
    """Return the path of one object, of its subresource, or (without name) of all of a kind."""
    parts = ["apis", resource.group] if resource.group else ["api"]
    parts.append(resource.version)
    if resource.is_namespaced and namespace is not None:
        parts += ["namespaces", namespace]
    parts += [part for part in (resource.plural, name, subresource) if part]
    assert resource.is_namespaced or namespace is None, f"{resource.plural} have no namespace"
    assert name or not subresource, "only objects have subresources"
    return "/" + "/".join(quote(part, safe="") for part in parts)
