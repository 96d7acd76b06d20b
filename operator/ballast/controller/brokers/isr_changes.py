"""Handles /isr_change_notification: refreshes LeaderAndIsr and sends UpdateMetadata.

Leaders write ISR changes to the state znodes themselves and announce them by these notifications.
"""

from ballast.controller.machines.components import Components
from ballast.controller.machines.control_request_batch import ControlRequestBatch
from ballast.controller.reassignment.reassignment import Reassignment


class IsrChanges:
    """Reacts to ISR changes written by leaders."""

    def __init__(self, components: Components, reassignment: Reassignment) -> None:
        self._context = components.context
        self._store = components.store
        self._channels = components.channels
        self._leader_and_isr = components.leader_and_isr
        self._reassignment = reassignment

    async def on_notification(self) -> None:
        """Refresh the states, update all brokers, complete reassignments; delete notifications.

        Notifications are deleted last: if this controller fails before, the next one finds
        them, and it reads all states at failover.
        """
        notifications = await self._store.read_isr_notifications()
        if not notifications:
            return
        named = {tp for partitions in notifications.values() for tp in partitions}
        partitions = sorted(tp for tp in named if self._context.has_partition(tp))
        await self._leader_and_isr.read(partitions)
        if partitions:
            batch = ControlRequestBatch(self._context, self._channels)
            batch.add_update_metadata(self._context.live_or_shutting_down, partitions)
            batch.send()
        await self._reassignment.complete_where_possible(partitions)
        await self._store.delete_isr_notifications(sorted(notifications))
