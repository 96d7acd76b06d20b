"""Creates topics that clients request metadata of (``auto.create.topics.enable``).

They get the default numbers, as with a CreateTopics request that leaves the numbers open. A name is
requested once at a time, and at most `MAX_UNDER_WAY` names: the others are answered with
LEADER_NOT_AVAILABLE, like those in progress, so that clients ask again. Internal topics are created
when brokers need them, and not before enough brokers are alive for their replicas.
"""

import logging
from collections.abc import Callable, Collection, Mapping
from typing import Final

from ballast.broker.cluster.controller_link import ControllerLink
from ballast.broker.cluster.metadata_cache import MetadataCache
from ballast.broker.errors import ControllerUnavailable
from ballast.protocol.error_codes import ErrorCode
from ballast.protocol.messages.admin.create_topics import (
    CreatableTopic,
    CreateTopicsRequest,
    CreateTopicsResponse,
)

log = logging.getLogger(__name__)

MAX_UNDER_WAY: Final = 100
TIMEOUT_MS: Final = 5000
VERSION: Final = 4
"""From version 4 on, -1 means the cluster's defaults (KIP-464)."""

LEADER_WAIT_S: Final = 1.0
"""How long a response is delayed so that it can name the leaders of the new topic."""


class AutoCreation:
    """Requests topics that clients expect to exist from the controller."""

    def __init__(
        self,
        controller: ControllerLink,
        metadata: MetadataCache,
        internal_topics: Mapping[str, CreatableTopic],
        with_defaults: Callable[[CreatableTopic], CreatableTopic] = lambda topic: topic,
    ) -> None:
        """Make it; ``internal_topics`` defines the topics that only brokers write.

        ``with_defaults`` sets the numbers of other topics that this broker knows.
        """
        self._with_defaults = with_defaults
        self._controller = controller
        self._metadata = metadata
        self._internal_topics = internal_topics
        self._under_way: set[str] = set()

    async def create(self, names: Collection[str]) -> dict[str, int]:
        """Create topics; return the errors of those that are still not in the metadata."""
        free = MAX_UNDER_WAY - len(self._under_way)
        wanted = [name for name in names if name not in self._under_way][:free]
        refused = await self._ask(wanted)
        expected = [name for name in names if name not in refused]
        await self._metadata.wait_until(
            lambda: all(name in self._metadata.topics for name in expected), LEADER_WAIT_S
        )
        return {
            name: refused.get(name, ErrorCode.LEADER_NOT_AVAILABLE)
            for name in names
            if name not in self._metadata.topics
        }

    async def _ask(self, names: Collection[str]) -> dict[str, int]:
        """Return the topics that were refused, here or by the controller."""
        topics = [self._creatable(name) for name in names]
        early = {
            topic.name: int(ErrorCode.INVALID_REPLICATION_FACTOR)
            for topic in topics
            if topic.replication_factor > len(self._metadata.brokers)
        }
        for name in early:
            log.warning("%s is not made: too few brokers live for its replicas", name)
        wanted = tuple(topic for topic in topics if topic.name not in early)
        return early | (await self._ask_for(wanted) if wanted else {})

    def _creatable(self, name: str) -> CreatableTopic:
        by_default = CreatableTopic(name=name, num_partitions=-1, replication_factor=-1)
        return self._internal_topics.get(name) or self._with_defaults(by_default)

    async def _ask_for(self, topics: tuple[CreatableTopic, ...]) -> dict[str, int]:
        """Return the topics that the controller refused to create."""
        names = [topic.name for topic in topics]
        request = CreateTopicsRequest(topics=topics, timeout_ms=TIMEOUT_MS)
        self._under_way.update(names)
        try:
            answer = await self._controller.request(request, VERSION, TIMEOUT_MS)
        except ControllerUnavailable:
            return {}
        finally:
            self._under_way.difference_update(names)
        assert isinstance(answer, CreateTopicsResponse)
        made = (ErrorCode.NONE, ErrorCode.TOPIC_ALREADY_EXISTS, ErrorCode.REQUEST_TIMED_OUT)
        return {
            topic.name: topic.error_code for topic in answer.topics if topic.error_code not in made
        }
