"""DescribeAcls (29), CreateAcls (30) and DeleteAcls (31), versions 0-2.

Behaviour:
* There is no authorizer, so there are no access control lists. Each request is answered with
  SECURITY_DISABLED and the message of Kafka's KafkaApis without ``authorizer.class.name``. Clients
  can distinguish that from a broker that is too old for the requests.

Version notes:
* v1 has types of patterns, v2 is flexible.
"""

from typing import Final

from ballast.broker.apis.context import BrokerContext, RequestInfo
from ballast.protocol.error_codes import ErrorCode
from ballast.protocol.messages.admin.create_acls import (
    AclCreationResult,
    CreateAclsRequest,
    CreateAclsResponse,
)
from ballast.protocol.messages.admin.delete_acls import (
    DeleteAclsFilterResult,
    DeleteAclsRequest,
    DeleteAclsResponse,
)
from ballast.protocol.messages.admin.describe_acls import DescribeAclsRequest, DescribeAclsResponse

_CODE: Final = ErrorCode.SECURITY_DISABLED
_DESCRIBE_MESSAGE: Final = "No Authorizer is configured on the broker"
_CHANGE_MESSAGE: Final = "No Authorizer is configured on the broker."


async def describe(
    context: BrokerContext, request: DescribeAclsRequest, info: RequestInfo
) -> DescribeAclsResponse:
    """Say that there are no lists."""
    del context, request, info
    return DescribeAclsResponse(error_code=_CODE, error_message=_DESCRIBE_MESSAGE)


async def create(
    context: BrokerContext, request: CreateAclsRequest, info: RequestInfo
) -> CreateAclsResponse:
    """Refuse each entry."""
    del context, info
    refused = AclCreationResult(error_code=_CODE, error_message=_CHANGE_MESSAGE)
    return CreateAclsResponse(results=(refused,) * len(request.creations))


async def delete(
    context: BrokerContext, request: DeleteAclsRequest, info: RequestInfo
) -> DeleteAclsResponse:
    """Refuse each filter."""
    del context, info
    refused = DeleteAclsFilterResult(error_code=_CODE, error_message=_CHANGE_MESSAGE)
    return DeleteAclsResponse(filter_results=(refused,) * len(request.filters))
