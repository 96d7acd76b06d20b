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
    harmless,
    honoured,
    refused,
)
from ballast.model.settings.values import INT_MAX, number, some_names, some_text

_ONE_LISTENER: Final = "A broker has one listener, PLAINTEXT; give listeners, advertised.listeners."
_PORT: Final = number(INT, 0, 65535)

_ONE_THREAD: Final = "One thread with an event loop does all of a broker's work."


def _threads(name: str, default: int | None, lowest: int | None = 1) -> ConfigKey:
    return harmless(name, INT, default, _ONE_THREAD, least=lowest)


_IDENTITY: Final = (
    honoured(
        "broker.id",
        INT,
        None,
        "The broker's id, unique in its cluster; required.",
        least=0,
        broker_set=RESERVED,
        required=True,
    ),
    harmless(
        "broker.id.generation.enable",
        BOOLEAN,
        "true",
        "Ids are never generated: a broker without broker.id does not start.",
        broker_set=RESERVED,
    ),
    harmless(
        "reserved.broker.max.id",
        INT,
        1000,
        "It limits ids only where others are generated.",
        least=0,
    ),
    honoured(
        "broker.rack",
        STRING,
        None,
        "The broker's failure domain.",
        parse=some_text,
        broker_set=RESERVED,
    ),
    honoured(
        "log.dirs",
        STRING,
        None,
        "Directories that hold the logs, comma separated; log.dir by default.",
        parse=some_names,
        broker_set=RESERVED,
        required=True,
    ),
    honoured(
        "log.dir",
        STRING,
        None,
        "Directory that holds the logs, if log.dirs is not set.",
        parse=some_names,
        broker_set=RESERVED,
    ),
)

_ADDRESSES: Final = (
    honoured(
        "listeners",
        STRING,
        "PLAINTEXT://:9092",
        "The address to listen on.",
        parse=listeners_of,
        broker_set=RESERVED,
    ),
    honoured(
        "advertised.listeners",
        STRING,
        None,
        "The address that clients connect to; listeners by default.",
        parse=listeners_of,
        broker_set=RESERVED,
    ),
    refused(
        "listener.security.protocol.map",
        STRING,
        "PLAINTEXT:PLAINTEXT,SSL:SSL,SASL_PLAINTEXT:SASL_PLAINTEXT,SASL_SSL:SASL_SSL",
        _ONE_LISTENER,
        parse=protocol_map,
        is_honoured=lambda protocols: protocols.get("PLAINTEXT") == "PLAINTEXT",
        broker_set=RESERVED,
    ),
    refused(
        "inter.broker.listener.name",
        STRING,
        None,
        _ONE_LISTENER,
        is_honoured=lambda name: name == "PLAINTEXT",
        broker_set=RESERVED,
    ),
    refused("control.plane.listener.name", STRING, None, _ONE_LISTENER, broker_set=RESERVED),
    honoured(
        "host.name", STRING, "", "Host of listeners, if that is not set.", broker_set=RESERVED
    ),
    honoured(
        "port",
        INT,
        9092,
        "Port of listeners, if that is not set.",
        parse=_PORT,
        broker_set=RESERVED,
    ),
    honoured(
        "advertised.host.name",
        STRING,
        None,
        "Host of advertised.listeners, if that is not set; host.name by default.",
        broker_set=RESERVED,
    ),
    honoured(
        "advertised.port",
        INT,
        None,
        "Port of advertised.listeners, if that is not set; port by default.",
        parse=_PORT,
        broker_set=RESERVED,
    ),
)

_CONNECTIONS: Final = (
    honoured(
        "socket.request.max.bytes",
        INT,
        104857600,
        "Size of the largest request that is read.",
        least=1,
    ),
    honoured(
        "connections.max.idle.ms",
        LONG,
        600000,
        "Time after which an idle connection is closed.",
        least=1,
    ),
    honoured(
        "max.connections",
        INT,
        INT_MAX,
        "Maximum number of open connections; further ones are closed.",
        least=0,
        dynamic=True,
    ),
    honoured(
        "max.connections.per.ip",
        INT,
        INT_MAX,
        "Maximum number of open connections from one address.",
        least=0,
        dynamic=True,
    ),
    honoured(
        "max.connections.per.ip.overrides",
        STRING,
        "",
        "Maximum number of open connections from single addresses, as ADDRESS:NUMBER, comma "
        "separated; host names are invalid.",
        parse=connections_by_address,
        dynamic=True,
    ),
    honoured(
        "max.connection.creation.rate",
        INT,
        INT_MAX,
        "New connections per second that are served immediately; further ones wait.",
        least=0,
        dynamic=True,
    ),
    harmless(
        "socket.send.buffer.bytes",
        INT,
        102400,
        "Socket buffers have measured sizes, which change no response.",
    ),
    harmless(
        "socket.receive.buffer.bytes",
        INT,
        102400,
        "Socket buffers have measured sizes, which change no response.",
    ),
    honoured(
        "socket.connection.setup.timeout.ms",
        LONG,
        10000,
        "Timeout for opening a connection to another process; it doubles after each failure.",
        least=1,
    ),
    honoured(
        "socket.connection.setup.timeout.max.ms",
        LONG,
        30000,
        "Upper limit of socket.connection.setup.timeout.ms after repeated failures.",
        least=1,
    ),
    honoured(
        "request.timeout.ms",
        INT,
        30000,
        "Time that a broker waits for the response to its requests, except a follower's fetches.",
        least=1,
    ),
    harmless(
        "queued.max.requests",
        INT,
        500,
        "Requests are not queued: a connection with many unanswered requests is not read.",
        least=1,
    ),
    honoured(
        "queued.max.request.bytes",
        LONG,
        -1,
        "Total size of the requests being read at which no further request is begun; -1 for no "
        "limit.",
    ),
)

_THREADS: Final = (
    _threads("num.network.threads", 3),
    _threads("num.io.threads", 8),
    _threads("background.threads", 10),
    _threads("num.recovery.threads.per.data.dir", 1),
    _threads("num.replica.alter.log.dirs.threads", None, None),
)

_HTTP: Final = (
    honoured(
        "ballast.http.listener",
        STRING,
        None,
        "host:port of /healthz, /readyz and /metrics; not served by default.",
        parse=parse_host_port,
    ),
    honoured(
        "ballast.connections.min.receive.rate",
        LONG,
        16 * 1024,
        "Minimum rate in bytes per second at which a started request must arrive; slower "
        "connections are closed.",
        least=1,
    ),
    honoured(
        "ballast.connections.write.stall.timeout.ms",
        LONG,
        600000,
        "Time after which a connection is closed whose client does not read its responses.",
        least=1,
    ),
)

ROWS: Final = (*_IDENTITY, *_ADDRESSES, *_CONNECTIONS, *_THREADS, *_HTTP)
