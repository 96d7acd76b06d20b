"""Merges the explanations of blocks into that of the plan."""

from collections.abc import Iterable, Sequence
from functools import reduce

import numpy as np

from ballast.planner.arrays import Ints
from ballast.planner.explain.copysets import all_copysets
from ballast.planner.explain.explain import BrokerLoads, Explanation, Flows
from ballast.planner.explain.explain_log_dirs import whole_log_dir_moves


def merge_explanations(blocks: Iterable[Explanation]) -> Explanation:
    """Return the explanation of all blocks, of which there is at least one.

    Blocks are added one after the other, so that only two explanations are in memory.
    """
    return reduce(lambda one, other: _together((one, other)), blocks)


def _together(blocks: Sequence[Explanation]) -> Explanation:
    before = _loads([one.before for one in blocks])
    after = _loads([one.after for one in blocks])
    return Explanation(
        partitions=sum(one.partitions for one in blocks),
        leader_changes=sum(one.leader_changes for one in blocks),
        replica_moves=sum(one.replica_moves for one in blocks),
        replica_moves_least=int(np.maximum(after.replicas - before.replicas, 0).sum()),
        bytes_to_move=sum(one.bytes_to_move for one in blocks),
        bytes_to_move_least=int(np.maximum(after.size_bytes - before.size_bytes, 0).sum()),
        rack_violations=(
            sum(one.rack_violations[0] for one in blocks),
            sum(one.rack_violations[1] for one in blocks),
        ),
        sets=(
            all_copysets([one.sets[0] for one in blocks]),
            all_copysets([one.sets[1] for one in blocks]),
        ),
        several_moves=sum(one.several_moves for one in blocks),
        before=before,
        after=after,
        flows=_flows([one.flows for one in blocks]),
        in_service=blocks[0].in_service,
        log_dirs=whole_log_dir_moves([one.log_dirs for one in blocks]),
    )


def _loads(parts: Sequence[BrokerLoads]) -> BrokerLoads:
    return BrokerLoads(
        replicas=_sum([one.replicas for one in parts]),
        leaders=_sum([one.leaders for one in parts]),
        size_bytes=_sum([one.size_bytes for one in parts]),
        bytes_in_per_second=_sum([one.bytes_in_per_second for one in parts]),
    )


def _flows(parts: Sequence[Flows]) -> Flows:
    matrices = [one.matrix for one in parts if one.matrix is not None]
    return Flows(
        replicas_in=_sum([one.replicas_in for one in parts]),
        replicas_out=_sum([one.replicas_out for one in parts]),
        bytes_in=_sum([one.bytes_in for one in parts]),
        bytes_sent=_sum([one.bytes_sent for one in parts]),
        matrix=_sum(matrices) if len(matrices) == len(parts) else None,
    )


def _sum(columns: Sequence[Ints]) -> Ints:
    return np.asarray(np.sum(columns, axis=0), np.int64)
