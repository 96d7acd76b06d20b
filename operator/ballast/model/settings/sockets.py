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
        "This broker's id, unique in its cluster. It must be given.",
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
        "Bounds given ids only where others are generated.",
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
        "Folders that hold the logs, comma separated; log.dir by default.",
        parse=some_names,
        broker_set=RESERVED,
        required=True,
    ),
    honoured(
        "log.dir",
        STRING,
        None,
        "Folder that holds the logs, unless log.dirs is given.",
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
        "The address that clients are told; by default that of listeners.",
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
        "host.name", STRING, "", "Host of listeners, when that is not given.", broker_set=RESERVED
    ),
    honoured(
        "port",
        INT,
        9092,
        "Port of listeners, when that is not given.",
        parse=_PORT,
        broker_set=RESERVED,
    ),
    honoured(
        "advertised.host.name",
        STRING,
        None,
        "Host of advertised.listeners, when that is not given; by default host.name.",
        broker_set=RESERVED,
    ),
    honoured(
        "advertised.port",
        INT,
        None,
        "Port of advertised.listeners, when that is not given; by default port.",
        parse=_PORT,
        broker_set=RESERVED,
    ),
)

_CONNECTIONS: Final = (
    honoured("socket.request.max.bytes", INT, 104857600, "Largest request that is read.", least=1),
    honoured(
        "connections.max.idle.ms",
        LONG,
        600000,
        "A connection that is idle for so long is closed.",
        least=1,
    ),
    honoured(
        "max.connections",
        INT,
        INT_MAX,
        "Connections held at once; further ones are closed as they come.",
        least=0,
        dynamic=True,
    ),
    honoured(
        "max.connections.per.ip",
        INT,
        INT_MAX,
        "Connections held at once from one address.",
        least=0,
        dynamic=True,
    ),
    honoured(
        "max.connections.per.ip.overrides",
        STRING,
        "",
        "Connections held at once from some addresses, as ADDRESS:NUMBER, comma separated; host "
        "names are not taken.",
        parse=connections_by_address,
        dynamic=True,
    ),
    honoured(
        "max.connection.creation.rate",
        INT,
        INT_MAX,
        "New connections per second that are served at once; those beyond wait for their turn.",
        least=0,
        dynamic=True,
    ),
    harmless(
        "socket.send.buffer.bytes",
        INT,
        102400,
        "The size of socket buffers is chosen by what was measured; it changes no answer.",
    ),
    harmless(
        "socket.receive.buffer.bytes",
        INT,
        102400,
        "The size of socket buffers is chosen by what was measured; it changes no answer.",
    ),
    honoured(
        "socket.connection.setup.timeout.ms",
        LONG,
        10000,
        "How long a connection to another process may take; doubled after each failure.",
        least=1,
    ),
    honoured(
        "socket.connection.setup.timeout.max.ms",
        LONG,
        30000,
        "How long a connection to another process may take after many failures.",
        least=1,
    ),
    honoured(
        "request.timeout.ms",
        INT,
        30000,
        "How long a broker waits for the answer to a request other than a follower's.",
        least=1,
    ),
    harmless(
        "queued.max.requests",
        INT,
        500,
        "Requests are not queued: a connection is read while few of its requests are under way.",
        least=1,
    ),
    honoured(
        "queued.max.request.bytes",
        LONG,
        -1,
        "Bytes of the requests that are being read, at which no further one is begun; -1 for no "
        "bound.",
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
        "host:port of /healthz, /readyz and /metrics; not served when absent.",
        parse=parse_host_port,
    ),
    honoured(
        "ballast.connections.min.receive.rate",
        LONG,
        16 * 1024,
        "Bytes per second that a request must come with once it has begun; slower ones are closed.",
        least=1,
    ),
    honoured(
        "ballast.connections.write.stall.timeout.ms",
        LONG,
        600000,
        "A connection whose client reads nothing of its answers for so long is closed.",
        least=1,
    ),
)

ROWS: Final = (*_IDENTITY, *_ADDRESSES, *_CONNECTIONS, *_THREADS, *_HTTP)
