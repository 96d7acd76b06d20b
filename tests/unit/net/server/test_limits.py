"""The limits' defaults are Kafka's where Kafka has them."""

from ballast.net.server.limits import ServerLimits


def test_kafka_s_defaults() -> None:
    limits = ServerLimits()

    assert limits.request_max_bytes == 104_857_600
    assert limits.connections_max_idle_s * 1000 == 600_000
    assert limits.incomplete_frame_timeout_s < limits.connections_max_idle_s
