"""/controller, ephemeral: who the controller is, and where it takes requests.

``{"version":1,"brokerid":1,"timestamp":"1690000000000","endpoint":"host:9093"}``: Kafka's fields,
and Ballast's ``endpoint``, since its controllers are not brokers.
"""

import re
from dataclasses import dataclass

import msgspec

from ballast.model.settings.values import LONG_MAX
from ballast.znodes import documents
from ballast.znodes.errors import ZnodeError

PATH = "/controller"

_ENDPOINT = re.compile(r"(\[[0-9A-Fa-f:.%]+\]|[0-9A-Za-z._-]+):([0-9]{1,5})")


@dataclass(frozen=True, slots=True, kw_only=True)
class ControllerInfo:
    """The elected controller, as /controller names it."""

    controller_id: int
    host: str | None = None
    """Where it takes requests; None for a controller of Apache Kafka, which is a broker."""
    port: int = -1
    timestamp_ms: int = 0
    """When it was elected, by its own wall clock."""


class _Document(msgspec.Struct):
    brokerid: documents.BrokerIdOrNone
    timestamp: str = "0"
    endpoint: str | None = None


def encode(info: ControllerInfo) -> bytes:
    """Return the data of /controller."""
    document: dict[str, object] = {
        "version": 1,
        "brokerid": info.controller_id,
        "timestamp": str(info.timestamp_ms),
    }
    if info.host is not None:
        host = f"[{info.host}]" if ":" in info.host else info.host
        document["endpoint"] = f"{host}:{info.port}"
    return documents.write(document)


def decode(data: bytes) -> ControllerInfo:
    """Return what /controller says; raises `ZnodeError`."""
    document = documents.read(PATH, data, _Document)
    timestamp_ms = documents.decimal(PATH, "timestamp", document.timestamp, LONG_MAX)
    if document.endpoint is None:
        return ControllerInfo(controller_id=document.brokerid, timestamp_ms=timestamp_ms)
    match = _ENDPOINT.fullmatch(document.endpoint)
    if match is None or int(match[2]) > 65535:
        raise ZnodeError(PATH, "endpoint", f"{document.endpoint[:100]!r} is not host:port")
    return ControllerInfo(
        controller_id=document.brokerid,
        host=match[1].strip("[]"),
        port=int(match[2]),
        timestamp_ms=timestamp_ms,
    )
