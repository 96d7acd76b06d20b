"""Settings of a broker's identity, addresses, connections and threads."""

from typing import Final

from ballast.model.settings.addresses import (
    connections_by_address,
    listeners_of,
    parse_host_port,
    protocol_map,
)
from ballast.model.settings.keys import (
    BOOLEAN,
    INT,
    LONG,
    RESERVED,
    STRING,
    ConfigKey,
    documented,
    harmless,
    honoured,
    refused,
)
from ballast.model.settings.values import INT_MAX, number, some_names, some_text

_ONE_LISTENER: Final = "A broker has one listener, PLAINTEXT; give listeners, advertised.listeners."
_PORT: Final = number(INT, 0, 65535)

_ONE_THREAD: Final = "One thread with an event loop does all of a broker's work."


def _threads(name: str, default: int | None, lowest: int | None = 1) -> ConfigKey:
    return harmless(name, INT, default, least=lowest)


_IDENTITY: Final = {
    honoured(
        "broker.id", INT, None, least=0, broker_set=RESERVED, required=True
    ): "The broker's id, unique in its cluster; required.",
    harmless(
        "broker.id.generation.enable", BOOLEAN, "true", broker_set=RESERVED
    ): "Ids are never generated: a broker without broker.id does not start.",
    harmless(
        "reserved.broker.max.id", INT, 1000, least=0
    ): "It limits ids only where others are generated.",
    honoured(
        "broker.rack", STRING, None, parse=some_text, broker_set=RESERVED
    ): "The broker's failure domain.",
    honoured(
        "log.dirs", STRING, None, parse=some_names, broker_set=RESERVED, required=True
    ): "Directories that hold the logs, comma separated; log.dir by default.",
    honoured(
        "log.dir", STRING, None, parse=some_names, broker_set=RESERVED
    ): "Directory that holds the logs, if log.dirs is not set.",
}

_ADDRESSES: Final = {
    honoured(
        "listeners", STRING, "PLAINTEXT://:9092", parse=listeners_of, broker_set=RESERVED
    ): "The address to listen on.",
    honoured(
        "advertised.listeners", STRING, None, parse=listeners_of, broker_set=RESERVED
    ): "The address that clients connect to; listeners by default.",
    refused(
        "listener.security.protocol.map",
        STRING,
        "PLAINTEXT:PLAINTEXT,SSL:SSL,SASL_PLAINTEXT:SASL_PLAINTEXT,SASL_SSL:SASL_SSL",
        parse=protocol_map,
        is_honoured=lambda protocols: protocols.get("PLAINTEXT") == "PLAINTEXT",
        broker_set=RESERVED,
    ): _ONE_LISTENER,
    refused(
        "inter.broker.listener.name",
        STRING,
        None,
        is_honoured=lambda name: name == "PLAINTEXT",
        broker_set=RESERVED,
    ): _ONE_LISTENER,
    refused("control.plane.listener.name", STRING, None, broker_set=RESERVED): _ONE_LISTENER,
    honoured(
        "host.name", STRING, "", broker_set=RESERVED
    ): "Host of listeners, if that is not set.",
    honoured(
        "port", INT, 9092, parse=_PORT, broker_set=RESERVED
    ): "Port of listeners, if that is not set.",
    honoured(
        "advertised.host.name", STRING, None, broker_set=RESERVED
    ): "Host of advertised.listeners, if that is not set; host.name by default.",
    honoured(
        "advertised.port", INT, None, parse=_PORT, broker_set=RESERVED
    ): "Port of advertised.listeners, if that is not set; port by default.",
}

_CONNECTIONS: Final = {
    honoured(
        "socket.request.max.bytes", INT, 104857600, least=1
    ): "Size of the largest request that is read.",
    honoured(
        "connections.max.idle.ms", LONG, 600000, least=1
    ): "Time after which an idle connection is closed.",
    honoured(
        "max.connections", INT, INT_MAX, least=0, dynamic=True
    ): "Maximum number of open connections; further ones are closed.",
    honoured(
        "max.connections.per.ip", INT, INT_MAX, least=0, dynamic=True
    ): "Maximum number of open connections from one address.",
    honoured(
        "max.connections.per.ip.overrides", STRING, "", parse=connections_by_address, dynamic=True
    ): (
        "Maximum number of open connections from single addresses, as ADDRESS:NUMBER, comma "
        "separated; host names are invalid."
    ),
    honoured(
        "max.connection.creation.rate", INT, INT_MAX, least=0, dynamic=True
    ): "New connections per second that are served immediately; further ones wait.",
    harmless(
        "socket.send.buffer.bytes", INT, 102400
    ): "Socket buffers have measured sizes, which change no response.",
    harmless(
        "socket.receive.buffer.bytes", INT, 102400
    ): "Socket buffers have measured sizes, which change no response.",
    honoured(
        "socket.connection.setup.timeout.ms", LONG, 10000, least=1
    ): "Timeout for opening a connection to another process; it doubles after each failure.",
    honoured(
        "socket.connection.setup.timeout.max.ms", LONG, 30000, least=1
    ): "Upper limit of socket.connection.setup.timeout.ms after repeated failures.",
    honoured(
        "request.timeout.ms", INT, 30000, least=1
    ): "Time that a broker waits for the response to its requests, except a follower's fetches.",
    harmless(
        "queued.max.requests", INT, 500, least=1
    ): "Requests are not queued: a connection with many unanswered requests is not read.",
    honoured("queued.max.request.bytes", LONG, -1): (
        "Total size of the requests being read at which no further request is begun; -1 for no "
        "limit."
    ),
}

_THREADS: Final = {
    _threads("num.network.threads", 3): _ONE_THREAD,
    _threads("num.io.threads", 8): _ONE_THREAD,
    _threads("background.threads", 10): _ONE_THREAD,
    _threads("num.recovery.threads.per.data.dir", 1): _ONE_THREAD,
    _threads("num.replica.alter.log.dirs.threads", None, None): _ONE_THREAD,
}

_HTTP: Final = {
    honoured(
        "ballast.http.listener", STRING, None, parse=parse_host_port
    ): "host:port of /healthz, /readyz and /metrics; not served by default.",
    honoured("ballast.connections.min.receive.rate", LONG, 16 * 1024, least=1): (
        "Minimum rate in bytes per second at which a started request must arrive; slower "
        "connections are closed."
    ),
    honoured(
        "ballast.connections.write.stall.timeout.ms", LONG, 600000, least=1
    ): "Time after which a connection is closed whose client does not read its responses.",
}

ROWS: Final = documented(_IDENTITY | _ADDRESSES | _CONNECTIONS | _THREADS | _HTTP)
