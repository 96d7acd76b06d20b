"""Ballast's settings of log directories as a whole."""

from typing import Final

from ballast.model.settings.keys import LONG, honoured
from ballast.model.settings.values import number

ROWS: Final = (
    honoured(
        "ballast.log.dir.lock.timeout.ms",
        LONG,
        1000,
        "How long a broker that starts waits for another process that is using one of its log.dirs "
        "to end; then it refuses to start. In a pod of a BrokerSet the default is 300000.",
        parse=number(LONG, 0),
    ),
)
