from ballast.znodes import log_dir_events
from tests.unit.znodes.hostile import each_hostile_document, refused_somewhere

NAME = "log_dir_event_0000000007"
PATH = f"/log_dir_event_notification/{NAME}"


def test_as_kafka_writes_it() -> None:
    assert log_dir_events.decode(NAME, b'{"version":1,"broker":3,"event":1}') == 3
    assert log_dir_events.encode(3) == b'{"version":1,"broker":3,"event":1}'
    assert log_dir_events.path(NAME) == PATH
    assert NAME.startswith(log_dir_events.PREFIX.rpartition("/")[2])


@each_hostile_document
def test_hostile(data: bytes) -> None:
    refused_somewhere(lambda d: log_dir_events.decode(NAME, d), data, PATH)
