"""Older properties of addresses and log directories, converted to the present ones."""

from collections.abc import Mapping

_HOST, _PORT = "host.name", "port"
_ADVERTISED_HOST, _ADVERTISED_PORT = "advertised.host.name", "advertised.port"


def with_synonyms(properties: Mapping[str, str]) -> dict[str, str]:
    """Return the properties with the values of older names under the present names.

    A present name that is set overrides the older ones (KafkaConfig.listeners,
    advertisedListeners, logDirs).
    """
    host, port = properties.get(_HOST, ""), properties.get(_PORT, "9092")
    result = dict(properties)
    if "log.dir" in properties:
        result.setdefault("log.dirs", properties["log.dir"])
    if _HOST in properties or _PORT in properties:
        result.setdefault("listeners", _listener(host, port))
    if _ADVERTISED_HOST in properties or _ADVERTISED_PORT in properties:
        host = properties.get(_ADVERTISED_HOST, host)
        port = properties.get(_ADVERTISED_PORT, port)
        result.setdefault("advertised.listeners", _listener(host, port))
    return result


def _listener(host: str, port: str) -> str:
    is_v6 = ":" in host
    return f"PLAINTEXT://{f'[{host}]' if is_v6 else host}:{port}"
