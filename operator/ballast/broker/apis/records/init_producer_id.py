"""InitProducerId (22), versions 0-4.

Behaviour:
* Any broker gives a new id of its block of 1000 from ZooKeeper, with epoch 0; the next block is
  asked for when one is used up. Without ZooKeeper: COORDINATOR_NOT_AVAILABLE, which is retried.
* Transactions are not served: a transactional id is TRANSACTIONAL_ID_AUTHORIZATION_FAILED.

Version notes:
* v3 lets a producer name its id to get a higher epoch (KIP-360); without transactions Kafka, too,
  answers with a new id.
"""

from ballast.broker.apis.context import BrokerContext, RequestInfo
from ballast.protocol.error_codes import ErrorCode
from ballast.protocol.messages.records.init_producer_id import (
    InitProducerIdRequest,
    InitProducerIdResponse,
)
from ballast.zk.errors import ZooKeeperError
from ballast.znodes.errors import ZnodeError


async def handle(
    context: BrokerContext, request: InitProducerIdRequest, _info: RequestInfo
) -> InitProducerIdResponse:
    """Answer with an id that no producer of this cluster has had."""
    if request.transactional_id is not None:
        return _failed(ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED)
    try:
        producer_id = await context.producer_ids.next()
    except (ZooKeeperError, ZnodeError, TimeoutError):
        return _failed(ErrorCode.COORDINATOR_NOT_AVAILABLE)
    return InitProducerIdResponse(
        error_code=ErrorCode.NONE, producer_id=producer_id, producer_epoch=0
    )


def _failed(code: ErrorCode) -> InitProducerIdResponse:
    return InitProducerIdResponse(error_code=code, producer_id=-1, producer_epoch=-1)
