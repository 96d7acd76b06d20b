"""What a file of the fake disk holds, and what of it a crash may take back."""

from random import Random

from ballast.storage.files.descriptors import Buffer


class Content:
    """A file's bytes, and the unflushed changes that made them: (position, replaced, old size)."""

    __slots__ = ("changes", "data", "flushed", "modified_ms", "parted", "rotten")

    def __init__(self) -> None:
        self.data = bytearray()
        self.rotten: dict[int, int] = {}
        """Position -> the bits that are read wrong there, until the byte is written again."""
        self.modified_ms = 0
        self.changes: list[tuple[int, bytes, int]] = []
        self.flushed = 0
        """How many changes were made durable before those in `changes`."""
        self.parted = False
        """Whether a flush has begun since the last change: an append is a change of its own."""

    def read(self, size: int, position: int) -> bytes:
        """Return what the disk gives, rot included."""
        data = bytes(memoryview(self.data)[position : position + size])
        if self.rotten:
            wrong = bytearray(data)
            for place, bits in self.rotten.items():
                if position <= place < position + len(data):
                    wrong[place - position] ^= bits
            data = bytes(wrong)
        return data

    def write(self, buffer: Buffer, position: int) -> None:
        for place in [p for p in self.rotten if position <= p < position + len(buffer)]:
            del self.rotten[place]
        data = self.data
        size = len(data)
        if position < size:
            self.changes.append((position, bytes(data[position : position + len(buffer)]), size))
        elif self.parted or not self.changes or not _is_append(self.changes[-1]):
            # Appends in a row are one change, which a crash may cut at any byte.
            self.changes.append((size, b"", size))
        self.parted = False
        if position > size:
            data += bytes(position - size)
        data[position : position + len(buffer)] = buffer

    def truncate(self, size: int) -> None:
        old_size = len(self.data)
        if size < old_size:
            self.changes.append((size, bytes(self.data[size:]), old_size))
            del self.data[size:]
        elif size > old_size:
            self.write(bytes(size - old_size), old_size)

    def begin_flush(self) -> int:
        """Return what `end_flush` takes, to make durable what was changed until now."""
        self.parted = True
        return self.flushed + len(self.changes)

    def end_flush(self, until: int) -> None:
        count = max(0, until - self.flushed)
        del self.changes[:count]
        self.flushed += count

    def crash(self, random: Random) -> None:
        """Undo a random number of the newest changes; the oldest of them may be half done."""
        data = self.data
        lost = random.randint(0, len(self.changes))
        for remaining in range(lost, 0, -1):
            change = self.changes.pop()
            position, replaced, old_size = change
            if remaining == 1 and _is_append(change):
                cut = random.randint(old_size, len(data))
                if random.random() < 0.2:
                    # The size reached the disk, the blocks did not: zeros.
                    data[cut:] = bytes(len(data) - cut)
                else:
                    del data[cut:]
            else:
                data[position : position + len(replaced)] = replaced
                del data[old_size:]
        self.end_flush(self.begin_flush())


def _is_append(change: tuple[int, bytes, int]) -> bool:
    return change[0] == change[2]
