"""Describes the quality of a generated plan, from the status of its reassignment."""

from typing import Final

from ballast.cli.kubectl.client import Document
from ballast.cli.kubectl.objects import amount, at, clean, number

_SUMMARY: Final = ("status", "plan", "summary")
_BUSIEST: Final = (
    ("in", "gets most"),
    ("out", "sends most"),
    ("within", "copies most between its log dirs"),
)
_LEVELS: Final = ("replicas", "leaders", "bytes", "bytesInPerSecond")


def explanation_lines(document: Document) -> list[str]:
    """Return the description of a plan; an empty list if the plan was not generated."""
    engine = clean(at(document, "status", "plan", "engine"))
    if not engine:
        return []
    return [
        line
        for line in (
            _origin(document, engine),
            _least(document),
            _levels(document),
            _racks(document),
            _busiest(document),
        )
        if line
    ]


def _origin(document: Document, engine: str) -> str:
    based_on = ("status", "plan", "basedOn")
    job = clean(at(document, "status", "plan", "sparkApplicationName"))
    by = f"{engine} ({job})" if job else engine
    digest = clean(at(document, *based_on, "snapshotDigest"))
    time = clean(at(document, *based_on, "time"))
    count = number(document, *based_on, "partitions")
    if count is None:
        return f"made by {by}"
    return f"made by {by} from a snapshot of {count} partitions, {time}, {digest}"


def _least(document: Document) -> str:
    replicas = number(document, *_SUMMARY, "replicaMovesLeast")
    if replicas is None:
        return ""
    size = amount(number(document, *_SUMMARY, "bytesToMoveLeast"))
    least = f"{replicas} replicas" + (f", {size}" if size else "")
    return f"no plan with the same counts copies less than {least}"


def _levels(document: Document) -> str:
    levels = []
    for name in _LEVELS:
        ends = [_ends(document, name, when) for when in ("before", "after")]
        if all(ends):
            levels.append(f"{name} {ends[0]} → {ends[1]}")
    return f"least to most per broker: {', '.join(levels)}" if levels else ""


def _ends(document: Document, name: str, when: str) -> str:
    ends = [number(document, *_SUMMARY, "spread", name, when, end) for end in ("least", "most")]
    numbers = [end for end in ends if end is not None]
    if len(numbers) != len(ends):
        return ""
    return "…".join(amount(end) if name.startswith("bytes") else str(end) for end in numbers)


def _racks(document: Document) -> str:
    words = []
    for name, what in (
        ("rackViolations", "replicas against the rule of racks"),
        ("copysets", "sets of brokers that hold a partition"),
        ("fullestLogDirPercent", "percent of its share in the fullest log dir"),
    ):
        pair = [number(document, *_SUMMARY, name, when) for when in ("before", "after")]
        if None not in pair:
            words.append(f"{what} {pair[0]} → {pair[1]}")
    return ", ".join(words)


def _busiest(document: Document) -> str:
    words = []
    for way, what in _BUSIEST:
        broker = number(document, *_SUMMARY, "busiestBroker", way, "brokerId")
        size = number(document, *_SUMMARY, "busiestBroker", way, "bytes")
        if broker is not None and size:
            words.append(f"broker {broker} {what} ({amount(size)})")
    seconds = number(document, *_SUMMARY, "expectedSeconds")
    if seconds is not None:
        minutes, rest = divmod(seconds, 60)
        words.append(f"at least {minutes} min {rest} s at the throttle")
    batches = number(document, *_SUMMARY, "expectedBatches")
    if batches is not None:
        words.append(f"at least {batches} batches")
    return ", ".join(words)
