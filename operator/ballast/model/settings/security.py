"""Settings of encryption, authentication, authorization and policies: none of it is served.

A broker that was told to have one of them and has not must not start.
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
    SHORT,
    STRING,
    ConfigKey,
    Support,
    harmless,
    without_effect,
)
from ballast.model.settings.values import ConfigType, number, one_of

_NO_TLS: Final = "Listeners are PLAINTEXT: nothing is encrypted."
_NO_SASL: Final = "Listeners are PLAINTEXT: nobody is authenticated."
_NO_AUTHORIZER: Final = "Everybody may do everything: there is no authorizer."
_NO_POLICY: Final = "No classes are loaded: requests are not put before a policy."
_NO_TOKENS: Final = "Delegation tokens are not served."
_NO_PASSWORDS: Final = "No password can be set while a broker runs, so that none is encoded."


def _refused(name: str, type_: ConfigType, default: str | int | None, why: str) -> ConfigKey:
    return without_effect(Support.REFUSED, name, type_, default, why)


_TLS: Final = (
    _refused("ssl.cipher.suites", LIST, "", _NO_TLS),
    without_effect(
        Support.REFUSED,
        "ssl.client.auth",
        STRING,
        "none",
        _NO_TLS,
        parse=one_of("required", "requested", "none"),
    ),
    _refused("ssl.enabled.protocols", LIST, "TLSv1.2,TLSv1.3", _NO_TLS),
    _refused("ssl.endpoint.identification.algorithm", STRING, "https", _NO_TLS),
    _refused("ssl.engine.factory.class", CLASS, None, _NO_TLS),
    _refused("ssl.key.password", PASSWORD, None, _NO_TLS),
    _refused("ssl.keymanager.algorithm", STRING, "SunX509", _NO_TLS),
    _refused("ssl.keystore.certificate.chain", PASSWORD, None, _NO_TLS),
    _refused("ssl.keystore.key", PASSWORD, None, _NO_TLS),
    _refused("ssl.keystore.location", STRING, None, _NO_TLS),
    _refused("ssl.keystore.password", PASSWORD, None, _NO_TLS),
    _refused("ssl.keystore.type", STRING, "JKS", _NO_TLS),
    _refused("ssl.principal.mapping.rules", STRING, "DEFAULT", _NO_TLS),
    _refused("ssl.protocol", STRING, "TLSv1.3", _NO_TLS),
    _refused("ssl.provider", STRING, None, _NO_TLS),
    _refused("ssl.secure.random.implementation", STRING, None, _NO_TLS),
    _refused("ssl.trustmanager.algorithm", STRING, "PKIX", _NO_TLS),
    _refused("ssl.truststore.certificates", PASSWORD, None, _NO_TLS),
    _refused("ssl.truststore.location", STRING, None, _NO_TLS),
    _refused("ssl.truststore.password", PASSWORD, None, _NO_TLS),
    _refused("ssl.truststore.type", STRING, "JKS", _NO_TLS),
)

_SASL: Final = (
    _refused("sasl.client.callback.handler.class", CLASS, None, _NO_SASL),
    _refused("sasl.enabled.mechanisms", LIST, "GSSAPI", _NO_SASL),
    _refused("sasl.jaas.config", PASSWORD, None, _NO_SASL),
    _refused("sasl.kerberos.kinit.cmd", STRING, "/usr/bin/kinit", _NO_SASL),
    _refused("sasl.kerberos.min.time.before.relogin", LONG, 60000, _NO_SASL),
    _refused("sasl.kerberos.principal.to.local.rules", LIST, "DEFAULT", _NO_SASL),
    _refused("sasl.kerberos.service.name", STRING, None, _NO_SASL),
    _refused("sasl.kerberos.ticket.renew.jitter", DOUBLE, "0.05", _NO_SASL),
    _refused("sasl.kerberos.ticket.renew.window.factor", DOUBLE, "0.8", _NO_SASL),
    _refused("sasl.login.callback.handler.class", CLASS, None, _NO_SASL),
    _refused("sasl.login.class", CLASS, None, _NO_SASL),
    _refused("sasl.login.refresh.buffer.seconds", SHORT, 300, _NO_SASL),
    _refused("sasl.login.refresh.min.period.seconds", SHORT, 60, _NO_SASL),
    _refused("sasl.login.refresh.window.factor", DOUBLE, "0.8", _NO_SASL),
    _refused("sasl.login.refresh.window.jitter", DOUBLE, "0.05", _NO_SASL),
    _refused("sasl.mechanism.controller.protocol", STRING, "GSSAPI", _NO_SASL),
    _refused("sasl.mechanism.inter.broker.protocol", STRING, "GSSAPI", _NO_SASL),
    _refused("sasl.server.callback.handler.class", CLASS, None, _NO_SASL),
    _refused("sasl.server.max.receive.size", INT, 524288, _NO_SASL),
    _refused("connections.max.reauth.ms", LONG, 0, _NO_SASL),
    harmless("connection.failed.authentication.delay.ms", INT, 100, _NO_SASL, parse=number(INT, 0)),
    without_effect(
        Support.REFUSED,
        "security.inter.broker.protocol",
        STRING,
        "PLAINTEXT",
        _NO_SASL,
        parse=one_of("PLAINTEXT", "SSL", "SASL_PLAINTEXT", "SASL_SSL"),
    ),
    _refused("security.providers", STRING, None, _NO_TLS),
)

_AUTHORIZATION: Final = (
    _refused("authorizer.class.name", STRING, "", _NO_AUTHORIZER),
    _refused("principal.builder.class", CLASS, None, _NO_AUTHORIZER),
    _refused("super.users", STRING, "", _NO_AUTHORIZER),
    # Without an authorizer Kafka reads it not at all, and everybody is allowed: as with true.
    without_effect(
        Support.REFUSED,
        "allow.everyone.if.no.acl.found",
        BOOLEAN,
        None,
        _NO_AUTHORIZER,
        honours=bool,
    ),
    _refused("create.topic.policy.class.name", CLASS, None, _NO_POLICY),
    _refused("alter.config.policy.class.name", CLASS, None, _NO_POLICY),
)

_TOKENS: Final = (
    _refused("delegation.token.master.key", PASSWORD, None, _NO_TOKENS),
    _refused("delegation.token.secret.key", PASSWORD, None, _NO_TOKENS),
    harmless("delegation.token.expiry.check.interval.ms", LONG, 3600000, _NO_TOKENS),
    harmless("delegation.token.expiry.time.ms", LONG, 86400000, _NO_TOKENS),
    harmless("delegation.token.max.lifetime.ms", LONG, 604800000, _NO_TOKENS),
)

_PASSWORDS: Final = (
    _refused("password.encoder.secret", PASSWORD, None, _NO_PASSWORDS),
    _refused("password.encoder.old.secret", PASSWORD, None, _NO_PASSWORDS),
    harmless("password.encoder.cipher.algorithm", STRING, "AES/CBC/PKCS5Padding", _NO_PASSWORDS),
    harmless("password.encoder.iterations", INT, 4096, _NO_PASSWORDS),
    harmless("password.encoder.key.length", INT, 128, _NO_PASSWORDS),
    harmless("password.encoder.keyfactory.algorithm", STRING, None, _NO_PASSWORDS),
)

ROWS: Final = (*_TLS, *_SASL, *_AUTHORIZATION, *_TOKENS, *_PASSWORDS)

REFUSED_PREFIXES: Final = {
    "listener.name.": _NO_TLS,
    "authorizer.": _NO_AUTHORIZER,
}
"""Names that begin so are a listener's or an authorizer's own, and mean security."""
