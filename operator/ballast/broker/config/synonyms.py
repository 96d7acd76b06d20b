"""Kafka's older names of a broker's addresses and log directories, put into today's."""

from collections.abc import Mapping

_HOST, _PORT = "host.name", "port"
_ADVERTISED_HOST, _ADVERTISED_PORT = "advertised.host.name", "advertised.port"


def with_synonyms(properties: Mapping[str, str]) -> dict[str, str]:
    """Return the properties with what older names say under the present ones.

    A present name that is given wins over the older ones (KafkaConfig.listeners,
    advertisedListeners, logDirs).
    """
    host, port = properties.get(_HOST, ""), properties.get(_PORT, "9092")
    found = dict(properties)
    if "log.dir" in properties:
        found.setdefault("log.dirs", properties["log.dir"])
    if _HOST in properties or _PORT in properties:
        found.setdefault("listeners", _listener(host, port))
    if _ADVERTISED_HOST in properties or _ADVERTISED_PORT in properties:
        host = properties.get(_ADVERTISED_HOST, host)
        port = properties.get(_ADVERTISED_PORT, port)
        found.setdefault("advertised.listeners", _listener(host, port))
    return found


def _listener(host: str, port: str) -> str:
    is_v6 = ":" in host
    return f"PLAINTEXT://{f'[{host}]' if is_v6 else host}:{port}"
