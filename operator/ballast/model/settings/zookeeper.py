"""Settings of the session with ZooKeeper."""

from typing import Final

from ballast.model.settings.addresses import zookeeper_of
from ballast.model.settings.keys import (
    BOOLEAN,
    INT,
    LIST,
    PASSWORD,
    STRING,
    ConfigKey,
    documented,
    harmless,
    honoured,
    refused,
)
from ballast.model.settings.values import ConfigType

_NO_TLS: Final = "Brokers speak to ZooKeeper in plain text only."


def _tls(name: str, type_: ConfigType, default: str | None) -> ConfigKey:
    return refused(f"zookeeper.{name}", type_, default)


ROWS: Final = documented(
    {
        honoured(
            "zookeeper.connect", STRING, None, parse=zookeeper_of, required=True
        ): "ZooKeeper's host:port pairs, comma separated, with an optional /chroot.",
        honoured(
            "zookeeper.session.timeout.ms", INT, 18000, least=1
        ): "Time after which ZooKeeper ends the session of a broker that does not respond.",
        honoured(
            "zookeeper.connection.timeout.ms", INT, None, least=1
        ): "Time that a starting broker waits for ZooKeeper; the session timeout by default.",
        harmless(
            "zookeeper.max.in.flight.requests", INT, 10, least=1
        ): "Brokers combine requests into few large ones and send one at a time.",
        harmless("zookeeper.sync.time.ms", INT, 2000): "Kafka 2.8 does not read it either.",
        refused(
            "zookeeper.set.acl", BOOLEAN, "false"
        ): "Znodes are made without access control lists.",
        _tls("clientCnxnSocket", STRING, None): _NO_TLS,
        _tls("ssl.cipher.suites", LIST, None): _NO_TLS,
        _tls("ssl.client.enable", BOOLEAN, "false"): _NO_TLS,
        _tls("ssl.crl.enable", BOOLEAN, "false"): _NO_TLS,
        _tls("ssl.enabled.protocols", LIST, None): _NO_TLS,
        _tls("ssl.endpoint.identification.algorithm", STRING, "HTTPS"): _NO_TLS,
        _tls("ssl.keystore.location", STRING, None): _NO_TLS,
        _tls("ssl.keystore.password", PASSWORD, None): _NO_TLS,
        _tls("ssl.keystore.type", STRING, None): _NO_TLS,
        _tls("ssl.ocsp.enable", BOOLEAN, "false"): _NO_TLS,
        _tls("ssl.protocol", STRING, "TLSv1.2"): _NO_TLS,
        _tls("ssl.truststore.location", STRING, None): _NO_TLS,
        _tls("ssl.truststore.password", PASSWORD, None): _NO_TLS,
        _tls("ssl.truststore.type", STRING, None): _NO_TLS,
    }
)
