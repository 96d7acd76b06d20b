"""Moves leadership to other brokers before this one stops (ControlledShutdown, key 7)."""

import asyncio
import logging

from ballast.broker.cluster.controller_link import ControllerLink
from ballast.broker.cluster.identity import Identity
from ballast.broker.config.config import BrokerConfig
from ballast.broker.errors import ControllerUnavailable
from ballast.protocol.error_codes import ErrorCode
from ballast.protocol.messages.control.controlled_shutdown import (
    ControlledShutdownRequest,
    ControlledShutdownResponse,
)

log = logging.getLogger(__name__)

VERSION = 3


async def hand_over(config: BrokerConfig, identity: Identity, controller: ControllerLink) -> bool:
    """Ask the controller to move what is led here; return whether all of it was moved.

    Tried ``controlled.shutdown.max.retries`` times within
    ``ballast.controlled.shutdown.timeout.ms``, so that logs are closed in order before a container
    is killed. A broker that is not registered does not try: its leaderships were moved already.
    """
    try:
        async with asyncio.timeout(config.controlled_shutdown_timeout_ms / 1000):
            if await _hand_over(config, identity, controller):
                return True
    except TimeoutError:
        log.info("controlled shutdown: no time is left")
    log.warning("controlled shutdown did not succeed; the controller will notice the end")
    return False


async def _hand_over(config: BrokerConfig, identity: Identity, controller: ControllerLink) -> bool:
    for attempt in range(config.controlled_shutdown_max_retries):
        if not identity.is_registered:
            return False
        if attempt:
            await asyncio.sleep(config.controlled_shutdown_retry_backoff_ms / 1000)
        request = ControlledShutdownRequest(
            broker_id=identity.broker_id, broker_epoch=identity.broker_epoch
        )
        try:
            answer = await controller.request(
                request, VERSION, config.request_timeout_ms, grace_s=0
            )
        except ControllerUnavailable as error:
            log.info("controlled shutdown: %s", error)
            continue
        assert isinstance(answer, ControlledShutdownResponse)
        if answer.error_code == ErrorCode.NONE and not answer.remaining_partitions:
            log.info("controlled shutdown: nothing is led here any more")
            return True
        log.info(
            "controlled shutdown: error %d, %d partitions remain",
            answer.error_code,
            len(answer.remaining_partitions),
        )
    return False
