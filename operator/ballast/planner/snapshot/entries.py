"""The objects in the lines of ``ballast-snapshot/v1``: brokers and topics."""

from typing import Annotated

import msgspec

MAX_REPLICAS = 32
_MAX_COUNT = 2**53

_Id = Annotated[int, msgspec.Meta(ge=0, le=2**31 - 1)]
_Leader = Annotated[int, msgspec.Meta(ge=-1, le=2**31 - 1)]
_Amount = Annotated[int, msgspec.Meta(ge=0, le=_MAX_COUNT)]
_Rate = Annotated[float, msgspec.Meta(ge=0, le=_MAX_COUNT)]
_Path = Annotated[str, msgspec.Meta(min_length=1, max_length=4096)]
_Name = Annotated[str, msgspec.Meta(min_length=1, max_length=256)]


class BrokerEntry(
    msgspec.Struct, kw_only=True, forbid_unknown_fields=True, rename="camel", omit_defaults=True
):
    """One broker in the first line."""

    id: _Id
    rack: _Name | None = None
    capacity_bytes: _Amount | None = None
    log_dirs: Annotated[tuple[_Path, ...], msgspec.Meta(max_length=1000)] = ()
    log_dir_bytes: Annotated[tuple[_Amount, ...], msgspec.Meta(max_length=1000)] = ()
    """Capacities of ``log_dirs``, in their order; empty = they are equal."""
    cordoned: bool = False


class TopicEntry(
    msgspec.Struct,
    kw_only=True,
    forbid_unknown_fields=True,
    rename="camel",
    omit_defaults=True,
    gc=False,
):
    """One topic's line."""

    topic: str
    replicas: list[Annotated[list[_Id], msgspec.Meta(min_length=1, max_length=MAX_REPLICAS)]]
    bytes: list[_Amount] | None = None
    bytes_in_per_second: list[_Rate] | None = None
    leaders: list[_Leader] | None = None
    log_dirs: list[list[_Path | None]] | None = None
    """Of each replica; None = not known."""
