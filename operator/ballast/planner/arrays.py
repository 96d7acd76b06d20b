"""Operations on numpy columns that several steps of planning share.

Nothing here draws random numbers. What has to look random is a hash of a seed and a position, so
that it is the same on every machine and with every release of numpy.

"""

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

Ints = npt.NDArray[np.int64]
Shorts = npt.NDArray[np.int32]
Floats = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)


def stable_order(keys: npt.NDArray[np.integer]) -> Ints:
    """Return the result of a stable argsort of integers.

    Sorting integers that carry their positions in the low bits is several times faster than
    argsort.
    """
    bits = len(keys).bit_length()
    if not len(keys) or int(keys.min()) < 0 or int(keys.max()) >= 1 << (63 - bits):
        return np.argsort(keys, kind="stable")
    packed = (keys.astype(np.int64) << bits) | np.arange(len(keys))
    packed.sort()
    packed &= (1 << bits) - 1
    return packed


def ranks(groups: Ints) -> Ints:
    """Return for each item how many items before it are in the same group."""
    order = stable_order(groups)
    ordered = groups[order]
    result = np.empty(len(groups), np.int64)
    result[order] = np.arange(len(groups)) - run_starts(ordered)
    return result


def run_starts(ordered: Ints) -> Ints:
    """Return for each item of a sorted column where the run of its value begins."""
    return np.maximum.accumulate(np.where(_begins_run(ordered), np.arange(len(ordered)), 0))


def first_occurrences(values: Ints) -> Ints:
    """Return the positions at which a value occurs for the first time, ascending."""
    order = stable_order(values)
    return np.sort(order[_begins_run(values[order])])


def _begins_run(ordered: Ints) -> Bools:
    is_first = np.ones(len(ordered), np.bool_)
    np.not_equal(ordered[1:], ordered[:-1], out=is_first[1:])
    return is_first


def row_counts(table: Bools) -> Ints:
    """Return how many are true in each row: column by column, as numpy is slow with short rows."""
    counts = np.zeros(len(table), np.int64)
    for column in table.T:
        counts += column
    return counts


def row_any(table: Bools) -> Bools:
    """Return in which rows any is true."""
    result = np.zeros(len(table), np.bool_)
    for column in table.T:
        result |= column
    return result


def stride_order(items: Ints, counts: Ints) -> Ints:
    """Return each item as often as its count says, equal items as far apart as possible.

    The n-th of c equal items stands at (n + 1/2) / c: for items a, b with counts 1 and 2, b a b.
    """
    return np.concatenate([*stride_pieces(items, counts, max(1, int(counts.sum())))])


def stride_pieces(items: Ints, counts: Ints, size: int) -> Iterator[Ints]:
    """Yield the `stride_order` of items in pieces of about ``size``.

    A piece holds all positions in one part of 0 … 1. The ends of parts are multiples of 2^-k, so
    that the comparison with them is exact.
    """
    parts = 1 << max(0, (int(counts.sum()) - 1) // size).bit_length()
    first = np.zeros_like(counts)
    for part in range(1, parts + 1):
        # Number of n with (2 n + 1) * parts < 2 * part * c.
        last = np.maximum((2 * part * counts + parts - 1) // (2 * parts), 0)
        here = last - first
        number = np.arange(int(here.sum())) + np.repeat(first - (np.cumsum(here) - here), here)
        place = (number + 0.5) / np.repeat(counts, here)
        yield np.repeat(items, here)[np.argsort(place, kind="stable")].astype(np.int64)
        first = last


def stride_cells(counts: Ints) -> Ints:
    """Return the cells of a table, row by row, in `stride_order` within each row."""
    flat = counts.ravel()
    cells = np.repeat(np.arange(len(flat)), flat)
    number = np.arange(len(cells)) - np.repeat(np.cumsum(flat) - flat, flat)
    turn = (number + 0.5) / np.repeat(flat, flat)
    return np.asarray(cells[np.lexsort((turn, cells // counts.shape[1]))])


def noise(seed: int, items: Ints) -> npt.NDArray[np.uint64]:
    """Return 64 bits for each item that look random: SplitMix64 of the seed and the item."""
    with np.errstate(over="ignore"):
        mixed = items.astype(np.uint64) + np.uint64(seed) * _GOLDEN + _GOLDEN
        mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return np.asarray(mixed ^ (mixed >> np.uint64(31)))


def count_by_index(items: npt.NDArray[np.integer], size: int) -> Ints:
    """Return how often each of 0 … ``size`` - 1 occurs; negative items are padding."""
    flat = items.ravel()
    if len(flat) and int(flat.min()) < 0:
        flat = flat[flat >= 0]
    return np.bincount(flat, minlength=size).astype(np.int64)


def sum_by_index(items: npt.NDArray[np.integer], amounts: Ints, size: int) -> Ints:
    """Return the sum of the amounts of each of 0 … ``size`` - 1; exact up to 2**53."""
    return np.rint(np.bincount(items, amounts, minlength=size)).astype(np.int64)


def apportion(weights: Floats, total: int) -> Ints:
    """Return ``total`` split in proportion to weights, not all 0: by largest remainder."""
    exact = total * weights / weights.sum()
    parts: Ints = np.floor(exact).astype(np.int64)
    most = np.argsort(parts - exact, kind="stable")
    parts[most[: total - int(parts.sum())]] += 1
    return parts
