"""Reads ``spec.plan.generate`` as options of a plan, with errors that name the JSON field.

The engine and its resources are not options of the planner and are not read here.

"""

from collections.abc import Mapping
from typing import Annotated, Any

import msgspec

from ballast.planner.errors import OptionsRejected
from ballast.planner.options import (
    MAX_REPLICATION_FACTOR,
    MAX_SEED,
    Objective,
    PlanOptions,
    Strategy,
)

_MAX_ITEMS = 10_000
_MAX_REASON = 200

_Id = Annotated[int, msgspec.Meta(ge=0, le=2**31 - 1)]
_Count = Annotated[int, msgspec.Meta(ge=0, le=2**53)]
_Pattern = Annotated[str, msgspec.Meta(min_length=1, max_length=256)]
_Patterns = Annotated[tuple[_Pattern, ...], msgspec.Meta(max_length=32)]


class _Topics(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    include: _Patterns = ()
    exclude: _Patterns = ()


class _Document(msgspec.Struct, kw_only=True, forbid_unknown_fields=True, rename="camel"):
    strategy: Strategy
    broker_ids: Annotated[tuple[_Id, ...], msgspec.Meta(max_length=_MAX_ITEMS)] = ()
    replication_factor: Annotated[int, msgspec.Meta(ge=1, le=MAX_REPLICATION_FACTOR)] | None = None
    topics: _Topics = msgspec.field(default_factory=_Topics)
    max_replica_moves: _Count | None = None
    max_bytes_to_move: _Count | None = None
    objective: Objective = Objective.BYTES
    seed: Annotated[int, msgspec.Meta(ge=0, le=MAX_SEED)] = 0
    start_index: _Count | None = None


def read_options(document: Mapping[str, Any]) -> PlanOptions:
    """Return the options of a document. Raises `OptionsRejected`, naming the field."""
    try:
        read = msgspec.convert(document, _Document)
    except msgspec.ValidationError as error:
        reason, _, path = str(error)[:_MAX_REASON].partition(" - at ")
        field = path.strip("`").removeprefix("$").removeprefix(".")
        raise OptionsRejected(field or "generate", reason) from error
    return PlanOptions(
        strategy=read.strategy,
        broker_ids=read.broker_ids,
        replication_factor=read.replication_factor,
        include=read.topics.include,
        exclude=read.topics.exclude,
        max_replica_moves=read.max_replica_moves,
        max_bytes_to_move=read.max_bytes_to_move,
        objective=read.objective,
        seed=read.seed,
        start_index=read.start_index,
    )
