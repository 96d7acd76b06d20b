"""DescribeCluster (60), version 0.

Behaviour:
* Live brokers, cluster id and the broker that Metadata too names as controller.
* A broker that has just started answers after the first UpdateMetadata.
* Nothing is authorised here, so the authorised operations are left unstated.
"""

from ballast.broker.apis.context import BrokerContext, RequestInfo
from ballast.protocol.error_codes import ErrorCode
from ballast.protocol.messages.cluster.describe_cluster import (
    DescribeClusterBroker,
    DescribeClusterRequest,
    DescribeClusterResponse,
)


async def handle(
    context: BrokerContext, _request: DescribeClusterRequest, _info: RequestInfo
) -> DescribeClusterResponse:
    """Answer from the cache."""
    await context.metadata.wait_until_filled()
    return DescribeClusterResponse(
        error_code=ErrorCode.NONE,
        cluster_id=context.identity.cluster_id,
        controller_id=context.metadata.controller_id,
        brokers=tuple(
            DescribeClusterBroker(
                broker_id=broker.broker_id,
                host=broker.endpoint.host,
                port=broker.endpoint.port,
                rack=broker.rack,
            )
            for broker in context.metadata.brokers.values()
        ),
    )
