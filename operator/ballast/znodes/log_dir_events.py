"""/log_dir_event_notification/log_dir_event_N, persistent and sequential: a broker lost a log dir.

``{"version":1,"broker":1,"event":1}``; 1, a failure, is the only event there is. The controller
asks the broker's replicas and deletes the notification (KIP-112).
"""

import msgspec

from ballast.znodes import documents

PATH = "/log_dir_event_notification"


PREFIX = f"{PATH}/log_dir_event_"

_FAILURE = 1


class _Document(msgspec.Struct):
    broker: documents.BrokerId


def path(name: str) -> str:
    """Return the path of one notification."""
    return f"{PATH}/{name}"


def encode(broker_id: int) -> bytes:
    """Return the document of a broker that lost a log dir."""
    return msgspec.json.encode({"version": 1, "broker": broker_id, "event": _FAILURE})


def decode(name: str, data: bytes) -> int:
    """Return the broker that lost a log dir; raises `ZnodeError`."""
    return documents.read(path(name), data, _Document).broker
