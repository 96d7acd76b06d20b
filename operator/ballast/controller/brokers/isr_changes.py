"""Leaders write ISR changes themselves and leave a note; the controller spreads the news."""

from ballast.controller.machines.control_request_batch import CommandBatch
from ballast.controller.machines.leader_and_isr import LeadershipWriter
from ballast.controller.reassignment.reassignment import Reassignment
from ballast.controller.state.context import ControllerContext
from ballast.controller.state.ports import BrokerChannels, MetadataStore


class IsrChanges:
    """Handles /isr_change_notification."""

    def __init__(
        self,
        context: ControllerContext,
        store: MetadataStore,
        channels: BrokerChannels,
        leadership: LeadershipWriter,
        reassignment: Reassignment,
    ) -> None:
        self._context = context
        self._store = store
        self._channels = channels
        self._leadership = leadership
        self._reassignment = reassignment

    async def on_notification(self) -> None:
        """Read the states anew, tell every broker, complete reassignments; then drop the notes.

        The notes go last: a controller that falls before leaves them to the next one, which
        reads all states anyway.
        """
        notifications = await self._store.read_isr_notifications()
        if not notifications:
            return
        named = {tp for partitions in notifications.values() for tp in partitions}
        partitions = sorted(tp for tp in named if self._context.has_partition(tp))
        await self._leadership.read(partitions)
        if partitions:
            batch = CommandBatch(self._context, self._channels)
            batch.add_update_metadata(self._context.live_or_shutting_down, partitions)
            batch.send()
        await self._reassignment.complete_where_possible(partitions)
        await self._store.delete_isr_notifications(sorted(notifications))
