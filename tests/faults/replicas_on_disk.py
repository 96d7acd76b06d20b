"""Whether the replicas of a topic agree, byte for byte, by the files that the brokers wrote."""

import hashlib
from collections.abc import Mapping
from pathlib import Path

from ballast.protocol.records import read_batch_header

_HEADER_SIZE = 61


def replica_folders(data: Path, topic: str) -> dict[str, list[str]]:
    """Return the topic's folders on each broker, those waiting for their removal included."""
    return {
        broker.name: sorted(folder.name for folder in broker.glob(f"{topic}-*"))
        for broker in sorted(data.glob("broker-*"))
    }


def deleted_folders(data: Path) -> list[str]:
    """Return the folders of deleted replicas that still hold their files."""
    return sorted(str(folder.relative_to(data)) for folder in data.glob("broker-*/*-delete"))


def expected_folders(
    topic: str, replicas: Mapping[int, list[int]], brokers: int
) -> dict[str, list[str]]:
    """Return the folders that an assignment asks for."""
    return {
        f"broker-{broker}": sorted(
            f"{topic}-{number}" for number, holders in replicas.items() if broker in holders
        )
        for broker in range(1, brokers + 1)
    }


def differences(data: Path, topic: str, replicas: Mapping[int, list[int]]) -> list[str]:
    """Return a line for each partition whose replicas are not equal up to their common end."""
    found = []
    for number, holders in sorted(replicas.items()):
        logs = {
            broker: _batches(data / f"broker-{broker}" / f"{topic}-{number}") for broker in holders
        }
        ends = {broker: max(batches, default=(0,))[0] for broker, batches in logs.items()}
        digests = {broker: _digest(batches) for broker, batches in logs.items()}
        if len(set(digests.values())) > 1:
            found.append(f"{topic}-{number}: {digests}, last batches at {ends}")
    return found


def _batches(folder: Path) -> dict[tuple[int, int], bytes]:
    """Return every batch of a log by its first and last offset; torn tails fail."""
    found = {}
    for segment in sorted(folder.glob("*.log")):
        content = segment.read_bytes()
        position = 0
        while position + _HEADER_SIZE <= len(content):
            header = read_batch_header(content, position)
            end = position + header.size
            assert end <= len(content), f"{segment} ends within a batch"
            found[header.base_offset, header.last_offset] = content[position:end]
            position = end
    return found


def _digest(batches: Mapping[tuple[int, int], bytes]) -> str:
    digest = hashlib.sha256()
    for offsets in sorted(batches):
        digest.update(batches[offsets])
    return digest.hexdigest()[:12]
