"""DescribeConfigs (32) and IncrementalAlterConfigs (44) on the client side."""

from collections.abc import Collection, Iterable, Mapping

from ballast.protocol.messages.admin.describe_configs import (
    DescribeConfigsRequest,
    DescribeConfigsResource,
    DescribeConfigsResult,
)
from ballast.protocol.messages.admin.incremental_alter_configs import (
    AlterableConfig,
    AlterConfigsResource,
)

TOPIC = 2
BROKER = 4
"""Kafka's resource types."""

TOPIC_CONFIG = 1
DYNAMIC_BROKER_CONFIG = 2
DYNAMIC_DEFAULT_BROKER_CONFIG = 3
"""Kafka's config sources: set on the topic, dynamically on a broker, or for all brokers."""

ALL_BROKERS = ""
"""The name of the resource for the defaults of all brokers."""

_SET = 0
_DELETE = 1


def describe_request(
    resource_type: int, resources: Iterable[str], names: Collection[str]
) -> DescribeConfigsRequest:
    """Return the request for some configs of resources."""
    return DescribeConfigsRequest(
        resources=tuple(
            DescribeConfigsResource(
                resource_type=resource_type,
                resource_name=resource,
                configuration_keys=tuple(sorted(names)),
            )
            for resource in resources
        )
    )


def set_values(result: DescribeConfigsResult, source: int) -> Mapping[str, str]:
    """Return the values set at ``source`` itself, without those that the peer hides."""
    return {
        config.name: config.value
        for config in result.configs
        if config.config_source == source and config.value is not None
    }


def effective_values(result: DescribeConfigsResult) -> Mapping[str, str]:
    """Return the effective values from any source, without those that the peer hides."""
    return {config.name: config.value for config in result.configs if config.value is not None}


def changes_of(
    resource_type: int, resource: str, changes: Mapping[str, str | None]
) -> AlterConfigsResource:
    """Return the changes of one resource; None deletes."""
    return AlterConfigsResource(
        resource_type=resource_type,
        resource_name=resource,
        configs=tuple(
            AlterableConfig(
                name=name, config_operation=_DELETE if value is None else _SET, value=value
            )
            for name, value in sorted(changes.items())
        ),
    )
