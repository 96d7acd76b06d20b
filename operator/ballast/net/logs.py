"""Log lines as JSON objects, one per line, with fixed fields first."""

import json
import logging
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import TextIO

_RESERVED = frozenset(vars(logging.LogRecord("", 0, "", 0, "", None, None))) | {
    "asctime",
    "level",
    "logger",
    "message",
    "taskName",
    "ts",
}
"""Attributes of every record, and the names of the fixed fields."""


class JsonFormatter(logging.Formatter):
    """Formats a record as ``{"ts", "level", "logger", "message", ...extras}``.

    The extra ``fields``, a mapping, stands for its items, so that they may have names that a record
    itself uses, such as ``name``. Control characters and everything outside ASCII are escaped: a
    hostile topic or client name can neither begin a new line nor move the cursor of a terminal.
    """

    def format(self, record: logging.LogRecord) -> str:
        """Return the record as one line."""
        line: dict[str, object] = {
            "ts": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
        }
        line |= {name: value for name, value in vars(record).items() if name not in _RESERVED}
        fields = line.pop("fields", None)
        if isinstance(fields, Mapping):
            line |= {name: value for name, value in fields.items() if name not in line}
        if record.exc_info:
            line["exception"] = self.formatException(record.exc_info)
        if record.stack_info:
            line["stack"] = record.stack_info
        # DEL and the C1 controls are the only control characters that JSON itself lets through;
        # ensure_ascii escapes the latter.
        return json.dumps(line, default=str).replace("\x7f", "\\u007f")


def log_to(stream: TextIO, level: int = logging.INFO) -> None:
    """Send the log of the process to ``stream`` as JSON lines; other handlers are removed."""
    handler = logging.StreamHandler(stream)
    handler.setFormatter(JsonFormatter())
    logging.basicConfig(level=level, handlers=[handler], force=True)
