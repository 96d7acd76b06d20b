"""Every byte of a stored batch counts."""

import pytest

from ballast.protocol.records import assign_offset
from ballast.storage.files.soundness import check_stored
from tests.unit.storage.samples import batch, joined

EPOCH = 3


def stored() -> bytearray:
    batches = [batch(2, base_offset=0), batch(1), batch(3)]
    for view, offset in zip(batches, (0, 5, 6), strict=True):
        assign_offset(view, 0, offset, EPOCH)
    return bytearray(joined(*batches))


def test_what_was_written_is_sound_with_its_gaps() -> None:
    data = stored()
    assert check_stored(data, end_offset=9, latest_epoch=EPOCH) == (len(data), None)
    assert check_stored(b"", end_offset=0, latest_epoch=0) == (0, None)


def test_one_wrong_bit_anywhere_is_noticed() -> None:
    """But for the low bits of an offset in a gap and of an older epoch, which may be right."""
    data = stored()
    first = len(batch(2))
    for place in range(first, first + len(batch(1))):
        for bit in range(8):
            if (place - first == 7 and bit < 2) or (place - first == 15 and bit < 2):
                continue
            data[place] ^= 1 << bit
            sound = check_stored(data, end_offset=9, latest_epoch=EPOCH)
            assert (sound.size_bytes, sound.flaw is None) == (first, False), (place, bit, sound)
            data[place] ^= 1 << bit


@pytest.mark.parametrize("size", [1, 60, 61, 70])
def test_a_batch_that_is_cut_off(size: int) -> None:
    data = stored()[:size]
    sound = check_stored(data, end_offset=9, latest_epoch=EPOCH)
    assert sound.size_bytes == 0
    assert sound.flaw is not None
