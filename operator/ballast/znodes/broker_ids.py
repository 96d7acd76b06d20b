"""/brokers/ids/N, ephemeral: a live broker and its listeners. Its czxid is the broker epoch.

Written in version 5 (Kafka 2.7); read from version 1 on (1-3: host and port only; 4: no features).
"""

import re
from typing import Annotated, Any

import msgspec

from ballast.model.brokers import Endpoint, RegisteredBroker
from ballast.znodes import documents
from ballast.znodes.errors import ZnodeError

PATH = "/brokers/ids"

_ENDPOINT = re.compile(r"(.*)://\[?([0-9a-zA-Z\-%._:]*)\]?:(-?[0-9]{1,5})")
_MAX_TEXT = 1024
_Text = Annotated[str, msgspec.Meta(max_length=_MAX_TEXT)]


class _Document(msgspec.Struct):
    version: Annotated[int, msgspec.Meta(ge=1, le=documents.INT32_MAX)]
    host: _Text | None = None
    port: documents.AnyInt32 = -1
    endpoints: Annotated[list[_Text], msgspec.Meta(max_length=64)] | None = None
    listener_security_protocol_map: dict[str, _Text] | None = None
    rack: _Text | None = None


def path(broker_id: int) -> str:
    """Return the path of a broker's registration."""
    return f"{PATH}/{broker_id}"


def broker_id_of(name: str) -> int | None:
    """Return the broker id that a child of /brokers/ids is named by; None for another child."""
    try:
        return documents.decimal(PATH, "", name)
    except ZnodeError:
        return None


def encode(broker: RegisteredBroker, timestamp_ms: int) -> bytes:
    """Return the registration of a broker, version 5."""
    plaintext = next((e for e in broker.endpoints if e.security_protocol == "PLAINTEXT"), None)
    document: dict[str, Any] = {
        "features": {},
        "listener_security_protocol_map": {
            e.listener_name: e.security_protocol for e in broker.endpoints
        },
        "endpoints": [_endpoint_text(e) for e in broker.endpoints],
        "jmx_port": -1,
        "port": plaintext.port if plaintext else -1,
        "host": plaintext.host if plaintext else None,
        "version": 5,
        "timestamp": str(timestamp_ms),
    }
    if broker.rack is not None:
        document["rack"] = broker.rack
    return documents.write(document)


def decode(broker_id: int, data: bytes, broker_epoch: int) -> RegisteredBroker:
    """Return the broker that registered itself; raises `ZnodeError`."""
    at = path(broker_id)
    document = documents.read(at, data, _Document)
    endpoints = tuple(_endpoints(at, document))
    if not endpoints:
        raise ZnodeError(at, "endpoints", "no endpoint")
    return RegisteredBroker(
        broker_id=broker_id, endpoints=endpoints, rack=document.rack, broker_epoch=broker_epoch
    )


def _endpoint_text(endpoint: Endpoint) -> str:
    host = f"[{endpoint.host}]" if ":" in endpoint.host else endpoint.host
    return f"{endpoint.listener_name}://{host}:{endpoint.port}"


def _endpoints(at: str, document: _Document) -> list[Endpoint]:
    if document.endpoints is None:
        if document.host is None:
            return []
        return [Endpoint(host=document.host, port=_port(at, "port", document.port))]
    protocols = document.listener_security_protocol_map or {}
    found = []
    for text in document.endpoints:
        match = _ENDPOINT.fullmatch(text)
        if match is None:
            raise ZnodeError(at, "endpoints", f"{text[:100]!r} is not LISTENER://host:port")
        name = match[1].upper()
        found.append(
            Endpoint(
                host=match[2],
                port=_port(at, "endpoints", int(match[3])),
                listener_name=name,
                security_protocol=protocols.get(name, name),
            )
        )
    return found


def _port(at: str, field: str, port: int) -> int:
    if not 0 <= port <= 65535:
        raise ZnodeError(at, field, f"{port} is not a port")
    return port
