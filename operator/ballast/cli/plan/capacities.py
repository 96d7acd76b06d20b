"""``--capacity``: sizes of brokers and log directories, which Kafka 2.8 does not report.

``2Ti`` is every broker's, ``7=4Ti`` that of broker 7; ``/data-1=1Ti`` is a log directory's on
every broker, ``7:/data-1=2Ti`` on broker 7. The size of a broker for which only directories
are given is their sum.
"""

import re
from collections.abc import Iterable, Mapping, Sequence

import msgspec

from ballast.model.quantity import parse_quantity
from ballast.planner.snapshot.entries import BrokerEntry

_FORM = re.compile(r"(?:(?:(?P<broker>[0-9]{1,10})?:?(?P<log_dir>/[^=]*)?)=)?(?P<size>[^=]+)")


class CapacityRejected(Exception):
    """Sizes that are none, or that leave brokers without one; the text says which."""


Capacities = Mapping[tuple[int | None, str | None], int]
"""Bytes by broker and log directory; None = all brokers, the whole broker."""


def read_capacities(words: Iterable[str]) -> Capacities:
    """Return what the command line says. Raises `CapacityRejected`."""
    capacities: dict[tuple[int | None, str | None], int] = {}
    for word in words:
        form = _FORM.fullmatch(word)
        if form is None:
            raise CapacityRejected(
                f"not a capacity such as 2Ti, 7=4Ti or 7:/data=1Ti: {word[:80]!r}"
            )
        place = (None if form["broker"] is None else int(form["broker"]), form["log_dir"])
        if place in capacities:
            raise CapacityRejected(f"says twice how large it is: {word[:80]!r}")
        try:
            capacities[place] = parse_quantity(form["size"])
        except ValueError as error:
            raise CapacityRejected(f"{word[:80]!r} {error}") from error
        if capacities[place] < 0:
            raise CapacityRejected(f"{word[:80]!r} is less than nothing")
    return capacities


def with_capacities(brokers: Sequence[BrokerEntry], capacities: Capacities) -> list[BrokerEntry]:
    """Return the brokers with their capacities.

    Raises `CapacityRejected` unless a capacity is given for each broker, and for each of its
    directories or none of them: a broker without a size would get no share of the load.
    """
    unknown = {broker for broker, _ in capacities if broker is not None} - {
        one.id for one in brokers
    }
    if unknown:
        raise CapacityRejected(f"broker {min(unknown)} is not alive")
    sized = [_sized(broker, capacities) for broker in brokers]
    without = [broker.id for broker in sized if broker.capacity_bytes is None]
    if capacities and without:
        raise CapacityRejected(f"says nothing of broker {without[0]}")
    return sized


def _sized(broker: BrokerEntry, capacities: Capacities) -> BrokerEntry:
    def of(log_dir: str | None) -> int | None:
        return capacities.get((broker.id, log_dir), capacities.get((None, log_dir)))

    sizes = [of(path) for path in broker.log_dirs]
    given_sizes = [size for size in sizes if size is not None]
    if given_sizes and len(given_sizes) < len(sizes):
        missing = broker.log_dirs[sizes.index(None)]
        raise CapacityRejected(f"says nothing of {missing} on broker {broker.id}")
    whole = of(None)
    return msgspec.structs.replace(
        broker,
        capacity_bytes=sum(given_sizes) if whole is None and given_sizes else whole,
        log_dir_bytes=tuple(given_sizes),
    )
