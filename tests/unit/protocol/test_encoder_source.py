import pytest

from ballast.protocol import encoder_source
from ballast.protocol.encoder_source import LayoutCache
from ballast.protocol.messages.cluster.metadata import MetadataResponsePartition
from ballast.protocol.messages.control.update_metadata import UpdateMetadataPartitionState


@pytest.mark.parametrize("message_class", [MetadataResponsePartition, UpdateMetadataPartitionState])
def test_a_partition_takes_one_call_with_all_its_replica_lists(message_class: type) -> None:
    source = encoder_source.generate(message_class, 7, flexible=False)[0]
    assert source.count("ap(") == 1


def test_layouts_are_kept_by_the_lengths_of_the_arrays() -> None:
    cache = LayoutCache(("i", None, "?"), flexible=False)
    assert cache[2,](7, 2, 10, 11, True) == bytes.fromhex("00000007 00000002 0000000a0000000b 01")
    assert list(cache) == [(2,)]
    compact = LayoutCache((None,), flexible=True)
    assert compact[1,](b"\x02", 5) == b"\x02\0\0\0\x05"
    assert compact[130,](b"\x83\x01", *range(130))[:6] == b"\x83\x01\0\0\0\0"


def test_the_cache_of_layouts_is_bounded() -> None:
    cache = LayoutCache((None,), flexible=True)
    for length in range(3000):
        cache[length,]
    assert len(cache) <= 1024
