"""When a connection has to be closed, second by second."""

from ballast.net.limits import ServerLimits
from ballast.net.liveness import Liveness

LIMITS = ServerLimits(
    connections_max_idle_s=600,
    incomplete_frame_timeout_s=30,
    min_receive_rate=1000,
    write_stall_timeout_s=60,
    quiet_period_s=15,
)


def overdue(
    liveness: Liveness, now: float, *, pending: int = 0, unsent: int = 0, unanswered: int = 0
) -> str | None:
    return liveness.overdue(now, pending=pending, unsent=unsent, unanswered=unanswered)


def test_idle_unless_something_is_owed() -> None:
    liveness = Liveness(LIMITS, 0)
    assert overdue(liveness, 599) is None
    assert overdue(liveness, 600, unanswered=1) is None
    assert overdue(liveness, 600) == "idle"
    liveness.read(700, is_frame_incomplete=False, is_new_frame=True)
    assert overdue(liveness, 1299) is None
    assert overdue(liveness, 1300) == "idle"


def test_an_incomplete_request_has_its_time_and_that_of_its_bytes() -> None:
    liveness = Liveness(LIMITS, 0)
    liveness.read(10, is_frame_incomplete=True, is_new_frame=False)
    liveness.read(30, is_frame_incomplete=True, is_new_frame=False)
    assert overdue(liveness, 39.9) is None
    assert overdue(liveness, 40) == "a request stayed incomplete"
    assert overdue(liveness, 40, pending=5000) is None
    assert overdue(liveness, 45, pending=5000) == "a request stayed incomplete"
    liveness.read(45, is_frame_incomplete=True, is_new_frame=True)
    assert overdue(liveness, 74) is None
    liveness.held()
    assert overdue(liveness, 500) is None
    liveness.read(500, is_frame_incomplete=True, is_new_frame=False)
    assert overdue(liveness, 529) is None
    assert overdue(liveness, 530) == "a request stayed incomplete"


def test_a_reader_must_take_something() -> None:
    liveness = Liveness(LIMITS, 0)
    liveness.write_paused(100)
    assert overdue(liveness, 110, unsent=500) is None
    assert overdue(liveness, 169, unsent=500) is None
    assert overdue(liveness, 169, unsent=499) is None
    assert overdue(liveness, 228, unsent=499) is None
    assert overdue(liveness, 229, unsent=499) == "the client does not read its answers"
    liveness.write_resumed()
    assert overdue(liveness, 229, unsent=499) is None


def test_it_is_asked_as_often_as_the_shortest_limit() -> None:
    assert Liveness(LIMITS, 0).period_s == 15
    assert Liveness(ServerLimits(connections_max_idle_s=1), 0).period_s == 1
