"""Settings of encryption, authentication, authorization and policies: none is served.

A broker that is configured for one of them does not start.
"""

from typing import Final

from ballast.model.settings.keys import (
    BOOLEAN,
    CLASS,
    DOUBLE,
    INT,
    LIST,
    LONG,
    PASSWORD,
    RESERVED,
    SHORT,
    STRING,
    UNSERVED,
    documented,
    harmless,
    refused,
)
from ballast.model.settings.values import one_of

_NO_TLS: Final = "Listeners are PLAINTEXT: nothing is encrypted."
_NO_SASL: Final = "Listeners are PLAINTEXT: clients are not authenticated."
_NO_AUTHORIZER: Final = "Everybody may do everything: there is no authorizer."
_NO_POLICY: Final = "No classes are loaded: requests are not put before a policy."
_NO_TOKENS: Final = "Delegation tokens are not served."
_NO_PASSWORDS: Final = "No password can be set while a broker runs, so that none is encoded."


_TLS: Final = {
    refused("ssl.cipher.suites", LIST, ""): _NO_TLS,
    refused(
        "ssl.client.auth", STRING, "none", parse=one_of("required", "requested", "none")
    ): _NO_TLS,
    refused("ssl.enabled.protocols", LIST, "TLSv1.2,TLSv1.3"): _NO_TLS,
    refused("ssl.endpoint.identification.algorithm", STRING, "https"): _NO_TLS,
    refused("ssl.engine.factory.class", CLASS, None): _NO_TLS,
    refused("ssl.key.password", PASSWORD, None): _NO_TLS,
    refused("ssl.keymanager.algorithm", STRING, "SunX509"): _NO_TLS,
    refused("ssl.keystore.certificate.chain", PASSWORD, None): _NO_TLS,
    refused("ssl.keystore.key", PASSWORD, None): _NO_TLS,
    refused("ssl.keystore.location", STRING, None): _NO_TLS,
    refused("ssl.keystore.password", PASSWORD, None): _NO_TLS,
    refused("ssl.keystore.type", STRING, "JKS"): _NO_TLS,
    refused("ssl.principal.mapping.rules", STRING, "DEFAULT"): _NO_TLS,
    refused("ssl.protocol", STRING, "TLSv1.3"): _NO_TLS,
    refused("ssl.provider", STRING, None): _NO_TLS,
    refused("ssl.secure.random.implementation", STRING, None): _NO_TLS,
    refused("ssl.trustmanager.algorithm", STRING, "PKIX"): _NO_TLS,
    refused("ssl.truststore.certificates", PASSWORD, None): _NO_TLS,
    refused("ssl.truststore.location", STRING, None): _NO_TLS,
    refused("ssl.truststore.password", PASSWORD, None): _NO_TLS,
    refused("ssl.truststore.type", STRING, "JKS"): _NO_TLS,
}

_SASL: Final = {
    refused("sasl.client.callback.handler.class", CLASS, None): _NO_SASL,
    refused("sasl.enabled.mechanisms", LIST, "GSSAPI"): _NO_SASL,
    refused("sasl.jaas.config", PASSWORD, None): _NO_SASL,
    refused("sasl.kerberos.kinit.cmd", STRING, "/usr/bin/kinit"): _NO_SASL,
    refused("sasl.kerberos.min.time.before.relogin", LONG, 60000): _NO_SASL,
    refused("sasl.kerberos.principal.to.local.rules", LIST, "DEFAULT"): _NO_SASL,
    refused("sasl.kerberos.service.name", STRING, None): _NO_SASL,
    refused("sasl.kerberos.ticket.renew.jitter", DOUBLE, "0.05"): _NO_SASL,
    refused("sasl.kerberos.ticket.renew.window.factor", DOUBLE, "0.8"): _NO_SASL,
    refused("sasl.login.callback.handler.class", CLASS, None): _NO_SASL,
    refused("sasl.login.class", CLASS, None): _NO_SASL,
    refused("sasl.login.refresh.buffer.seconds", SHORT, 300): _NO_SASL,
    refused("sasl.login.refresh.min.period.seconds", SHORT, 60): _NO_SASL,
    refused("sasl.login.refresh.window.factor", DOUBLE, "0.8"): _NO_SASL,
    refused("sasl.login.refresh.window.jitter", DOUBLE, "0.05"): _NO_SASL,
    refused("sasl.mechanism.controller.protocol", STRING, "GSSAPI"): _NO_SASL,
    refused("sasl.mechanism.inter.broker.protocol", STRING, "GSSAPI"): _NO_SASL,
    refused("sasl.server.callback.handler.class", CLASS, None): _NO_SASL,
    refused("sasl.server.max.receive.size", INT, 524288): _NO_SASL,
    refused("connections.max.reauth.ms", LONG, 0, broker_set=UNSERVED): _NO_SASL,
    harmless("connection.failed.authentication.delay.ms", INT, 100, least=0): _NO_SASL,
    refused(
        "security.inter.broker.protocol",
        STRING,
        "PLAINTEXT",
        parse=one_of("PLAINTEXT", "SSL", "SASL_PLAINTEXT", "SASL_SSL"),
        broker_set=RESERVED,
    ): _NO_SASL,
    refused("security.providers", STRING, None): _NO_TLS,
}

_AUTHORIZATION: Final = {
    refused("authorizer.class.name", STRING, ""): _NO_AUTHORIZER,
    refused("principal.builder.class", CLASS, None, broker_set=UNSERVED): _NO_AUTHORIZER,
    refused("super.users", STRING, "", broker_set=UNSERVED): _NO_AUTHORIZER,
    # Without an authorizer Kafka ignores it and allows every client, as with true.
    refused(
        "allow.everyone.if.no.acl.found", BOOLEAN, None, is_honoured=bool, broker_set=UNSERVED
    ): _NO_AUTHORIZER,
    refused("create.topic.policy.class.name", CLASS, None, broker_set=UNSERVED): _NO_POLICY,
    refused("alter.config.policy.class.name", CLASS, None, broker_set=UNSERVED): _NO_POLICY,
}

_TOKENS: Final = {
    refused("delegation.token.master.key", PASSWORD, None): _NO_TOKENS,
    refused("delegation.token.secret.key", PASSWORD, None): _NO_TOKENS,
    harmless("delegation.token.expiry.check.interval.ms", LONG, 3600000): _NO_TOKENS,
    harmless("delegation.token.expiry.time.ms", LONG, 86400000): _NO_TOKENS,
    harmless("delegation.token.max.lifetime.ms", LONG, 604800000): _NO_TOKENS,
}

_PASSWORDS: Final = {
    refused("password.encoder.secret", PASSWORD, None): _NO_PASSWORDS,
    refused("password.encoder.old.secret", PASSWORD, None): _NO_PASSWORDS,
    harmless("password.encoder.cipher.algorithm", STRING, "AES/CBC/PKCS5Padding"): _NO_PASSWORDS,
    harmless("password.encoder.iterations", INT, 4096): _NO_PASSWORDS,
    harmless("password.encoder.key.length", INT, 128): _NO_PASSWORDS,
    harmless("password.encoder.keyfactory.algorithm", STRING, None): _NO_PASSWORDS,
}

ROWS: Final = documented(_TLS | _SASL | _AUTHORIZATION | _TOKENS | _PASSWORDS)

REFUSED_PREFIXES: Final = {
    "listener.name.": _NO_TLS,
    "authorizer.": _NO_AUTHORIZER,
}
"""Names that begin so are a listener's or an authorizer's own, and mean security."""
