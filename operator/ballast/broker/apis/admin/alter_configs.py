"""AlterConfigs (33), versions 0-2.

Behaviour:
* What is named is set, and everything else that was set on the topic or broker while it runs is
  taken away. kafka-configs alters brokers this way, also where it could do it incrementally.
* Resources, checks and outcomes are those of IncrementalAlterConfigs (44).

Version notes:
* v2 is flexible.
"""

from collections.abc import Mapping

from ballast.broker.apis.admin.incremental_alter_configs import alter_each
from ballast.broker.apis.context import BrokerContext, RequestInfo
from ballast.broker.config.config_changes import Change, Operation
from ballast.protocol.messages.admin.alter_configs import (
    AlterConfigsRequest,
    AlterConfigsResource,
    AlterConfigsResourceResponse,
    AlterConfigsResponse,
)


async def handle(
    context: BrokerContext, request: AlterConfigsRequest, _info: RequestInfo
) -> AlterConfigsResponse:
    """Replace the configs of each resource."""
    resources = [
        (resource.resource_type, resource.resource_name, _Replacement(resource))
        for resource in request.resources
    ]
    outcomes = await alter_each(context, resources, validate_only=request.validate_only)
    return AlterConfigsResponse(
        responses=tuple(
            AlterConfigsResourceResponse(
                error_code=outcome.code,
                error_message=outcome.message,
                resource_type=resource.resource_type,
                resource_name=resource.resource_name,
            )
            for resource, outcome in zip(request.resources, outcomes, strict=True)
        )
    )


class _Replacement:
    """Turns the values that a resource has into changes that leave it with those asked for."""

    def __init__(self, resource: AlterConfigsResource) -> None:
        self._resource = resource

    def __call__(self, values: Mapping[str, str]) -> list[Change]:
        wanted = [
            Change(name=config.name, operation=Operation.SET, value=config.value)
            for config in self._resource.configs
        ]
        names = {change.name for change in wanted}
        return wanted + [
            Change(name=name, operation=Operation.DELETE, value=None)
            for name in sorted(values.keys() - names)
        ]
