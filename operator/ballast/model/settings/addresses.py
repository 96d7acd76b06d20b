"""The parsers of settings that are addresses."""

from ipaddress import ip_address

from ballast.model.brokers import Endpoint
from ballast.model.settings.values import ConfigType, names, number, some_names


def parse_host_port(text: str) -> tuple[str, int]:
    """Return the host (maybe empty) and port of ``host:port`` or ``[v6]:port``."""
    host, colon, port = text.strip().rpartition(":")
    if not colon or not port.isascii() or not port.isdecimal() or not int(port) <= 65535:
        raise ValueError(f"not host:port: {text!r}")
    return host.strip("[]"), int(port)


def listeners_of(text: str) -> tuple[Endpoint, ...]:
    """Return the one listener of ``PLAINTEXT://host:port``."""
    endpoints = []
    for item in some_names(text):
        name, separator, address = item.partition("://")
        if not separator:
            raise ValueError(f"not NAME://host:port: {item!r}")
        if name != "PLAINTEXT":
            raise ValueError(f"only PLAINTEXT is served, not {name!r}")
        host, port = parse_host_port(address)
        endpoints.append(Endpoint(host=host, port=port, listener_name=name))
    if len(endpoints) != 1:
        raise ValueError("exactly one listener is served")
    return tuple(endpoints)


def zookeeper_of(text: str) -> str:
    """Return ``host:port,host:port/chroot`` unchanged if it is valid."""
    servers, _, _ = text.strip().partition("/")
    for server in some_names(servers):
        parse_host_port(server)
    return text.strip()


def protocol_map(text: str) -> dict[str, str]:
    """Return the security protocol of each listener's name in ``NAME:PROTOCOL,...``."""
    protocols = {}
    for item in some_names(text):
        name, colon, protocol = item.partition(":")
        if (
            not colon
            or not name
            or protocol
            not in (
                "PLAINTEXT",
                "SSL",
                "SASL_PLAINTEXT",
                "SASL_SSL",
            )
        ):
            raise ValueError(f"not NAME:PROTOCOL: {item!r}")
        protocols[name] = protocol
    return protocols


def connections_by_address(text: str) -> tuple[tuple[str, int], ...]:
    """Return the numbers of ``ADDRESS:NUMBER,...``, with addresses as sockets report them.

    Kafka resolves host names at start. Here only addresses are valid, so that the limits do not
    depend on the time of a DNS lookup.
    """
    limits: dict[str, int] = {}
    for item in names(text):
        address, colon, count = item.rpartition(":")
        if not colon:
            raise ValueError(f"not ADDRESS:NUMBER: {item!r}")
        try:
            host = str(ip_address(address.strip().strip("[]")))
        except ValueError:
            raise ValueError(f"not an IP address: {address!r}") from None
        if host in limits:
            raise ValueError(f"an address is given twice: {host}")
        limits[host] = number(ConfigType.INT, 0)(count)
    return tuple(limits.items())
