"""Settings of quotas and metrics."""

from typing import Final

from ballast.model.settings.keys import (
    CLASS,
    INT,
    LIST,
    LONG,
    STRING,
    UNSERVED,
    ConfigKey,
    documented,
    harmless,
    refused,
)
from ballast.model.settings.values import LONG_MAX

_NO_QUOTAS: Final = "There are no client quotas: no client is throttled."
_PROMETHEUS: Final = "Metrics are served unsampled at /metrics of ballast.http.listener."
_NO_CLASSES: Final = "No classes are loaded; metrics are served at /metrics."


def _default_quota(name: str) -> ConfigKey:
    return refused(name, LONG, LONG_MAX, least=1)


def _window(name: str, default: int) -> ConfigKey:
    return harmless(name, INT, default, least=1)


ROWS: Final = documented(
    {
        _default_quota("quota.producer.default"): _NO_QUOTAS,
        _default_quota("quota.consumer.default"): _NO_QUOTAS,
        refused("client.quota.callback.class", CLASS, None, broker_set=UNSERVED): _NO_QUOTAS,
        _window("quota.window.num", 11): _NO_QUOTAS,
        _window("quota.window.size.seconds", 1): _NO_QUOTAS,
        _window("controller.quota.window.num", 11): _NO_QUOTAS,
        _window("controller.quota.window.size.seconds", 1): _NO_QUOTAS,
        refused("metric.reporters", LIST, ""): _NO_CLASSES,
        refused("kafka.metrics.reporters", LIST, ""): _NO_CLASSES,
        harmless("kafka.metrics.polling.interval.secs", INT, 10, least=1): _PROMETHEUS,
        harmless("metrics.num.samples", INT, 2, least=1): _PROMETHEUS,
        harmless("metrics.recording.level", STRING, "INFO"): _PROMETHEUS,
        harmless("metrics.sample.window.ms", LONG, 30000, least=1): _PROMETHEUS,
    }
)
