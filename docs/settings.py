"""The chapter of docs/reference.md on the properties of brokers and topics, from their table."""

from collections.abc import Iterable, Iterator

from ballast.model.settings.keys import ConfigKey, Support
from ballast.model.settings.table import BROKER_SETTINGS, TOPIC_SETTINGS

INTRODUCTION = """\
## Properties of brokers and topics

Every property of Kafka 2.8 is honoured, harmless or refused. A broker does not start with a refused
value, and no topic is created or altered with one. A harmless value is accepted and changes
nothing. A name that is not in the table has no effect: brokers log a warning at start, and the
condition `ConfigHonoured` of the BrokerSet names it. *Dynamic* properties can be set while brokers
run, for one broker or for all.
"""


def chapter() -> Iterator[str]:
    """Yield the lines of the chapter."""
    yield INTRODUCTION
    yield "### Brokers\n"
    yield from _table(BROKER_SETTINGS.values())
    yield "\n### Topics\n"
    yield "A topic that does not set a property has the value of the broker property.\n"
    yield from _table(TOPIC_SETTINGS.values())
    yield ""


def _table(rows: Iterable[ConfigKey]) -> Iterator[str]:
    yield "| property | default | | meaning, or why it is not honoured |"
    yield "|---|---|---|---|"
    for row in sorted(rows, key=lambda row: row.name):
        default = f"`{row.default}`" if row.default else ""
        support = (
            "other values are refused" if row.support is Support.REFUSED else row.support.value
        )
        mark = ", *dynamic*" if row.dynamic and not row.broker_name else ""
        meaning = row.doc or (f"As `{row.broker_name}`." if row.broker_name else "See KIP-73.")
        yield f"| `{row.name}` | {default} | {support}{mark} | {meaning.replace('|', '&#124;')} |"
