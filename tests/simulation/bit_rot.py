"""A byte that rots on one broker's disk, where others have what was there.

The invariants see what was written, so that a damaged log still counts as a copy; brokers see what
the disk gives. Damage is in batches only that are committed and were durable according to the
checkpoint of recovery points, and at any of their bytes: recovery cuts what a crash may have torn.
Never two replicas of a partition rot in one run: then nobody might have the bytes. Rule:

- P20 a damaged log goes only while the ISR does without it
"""

import random
from collections.abc import Mapping, Sequence

from ballast.model.ids import TopicPartition
from ballast.model.leadership import LeaderAndIsr
from ballast.protocol.records import iter_batches
from ballast.storage.files.checkpoints import decode_offsets
from ballast.storage.files.layout import LOG_SUFFIX, RECOVERY_POINTS
from tests.fakes.disk import FakeDisk
from tests.simulation.violations import require


class BitRot:
    """Lets bytes rot, of one replica of each partition."""

    def __init__(self, disks: Mapping[int, FakeDisk], directories: Sequence[str]) -> None:
        self._disks = disks
        self._directories = directories
        self._rotten: set[TopicPartition] = set()

    def one_byte(
        self,
        states: Mapping[TopicPartition, LeaderAndIsr],
        committed: Mapping[TopicPartition, int],
        rng: random.Random,
    ) -> str | None:
        """Let a byte of a leader rot; return where, None where nothing may."""
        known = [name for name in committed if name in states and name not in self._rotten]
        if not known:
            return None
        partition = rng.choice(known)
        state = states[partition]
        if len(state.isr) < 2 or state.leader not in self._disks:
            return None
        disk = self._disks[state.leader]
        found = [d for d in self._directories if disk.holds(f"{d}/{partition}")]
        if not found:
            return None
        folder, checkpoint = f"{found[0]}/{partition}", f"{found[0]}/{RECOVERY_POINTS}"
        durable = decode_offsets(disk.content(checkpoint)) if disk.holds(checkpoint) else {}
        below = min(committed[partition], durable.get(partition, 0))
        names = [name for name in disk.names_now(folder) if name.endswith(LOG_SUFFIX)]
        path = f"{folder}/{rng.choice(names)}"
        batches = [
            (position, header)
            for position, header in iter_batches(disk.content(path))
            if header.next_offset <= below
        ]
        if not batches:
            return None
        start, header = rng.choice(batches)
        place = start + rng.choice((rng.randrange(21), rng.randrange(header.size)))
        disk.rot(path, place, 1 << rng.randrange(8))
        self._rotten.add(partition)
        return f"byte {place} of {path} of broker {state.leader}, offset {header.base_offset}"


def check_renewal(broker: int, partition: TopicPartition, state: LeaderAndIsr | None) -> None:
    """Check that a damaged log may go."""
    counts = state is not None and broker in state.isr
    require("P20", not counts, f"{partition} on {broker} goes while the ISR counts on it: {state}")
