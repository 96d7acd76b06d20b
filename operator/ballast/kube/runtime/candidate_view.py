"""The view of this process's controller candidate: the active controller, its own session."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from ballast.brokersets.observation.observation import ControllerView, ZooKeeperState
from ballast.candidate.candidate import Candidate
from ballast.kube.api.resources import ObjectKey
from ballast.zk.client import SessionEvent
from ballast.zk.election import ElectionLost

_STATES: Final[Mapping[SessionEvent | None, ZooKeeperState]] = {
    None: ZooKeeperState.CONNECTING,
    SessionEvent.CONNECTED: ZooKeeperState.CONNECTED,
    SessionEvent.SUSPENDED: ZooKeeperState.CONNECTING,
    SessionEvent.EXPIRED: ZooKeeperState.LOST,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class CandidateView:
    """The view of one candidate at one moment."""

    controller: ControllerView | None = None
    """None while no controller is known."""
    zookeeper: ZooKeeperState | None = None
    """None when there is no candidate."""


def no_candidate(_key: ObjectKey) -> CandidateView:
    """Return the view without a candidate."""
    return CandidateView()


def view_of(candidate: Candidate | None, identity: str) -> CandidateView:
    """Return the view of a candidate in the pod ``identity``. Thread-safe."""
    if candidate is None:
        return CandidateView()
    return CandidateView(
        controller=_controller(candidate, identity), zookeeper=zookeeper_state(candidate)
    )


def zookeeper_state(candidate: Candidate) -> ZooKeeperState:
    """Return the state of a candidate's session. Thread-safe."""
    state = _STATES[candidate.session_event]
    # A session without any answer of ZooKeeper may have expired, without an event that says so.
    is_lost = state is not ZooKeeperState.CONNECTED and candidate.session_event is not None
    return ZooKeeperState.LOST if is_lost and candidate.is_silent else state


def _controller(candidate: Candidate, identity: str) -> ControllerView | None:
    term, lost_to = candidate.controller_term, candidate.lost_to
    if term is not None and candidate.is_active:
        return ControllerView(
            identity=identity,
            epoch=term.elected.controller_epoch,
            elected_ms=candidate.elected_ms,
        )
    return None if lost_to is None else _other(lost_to)


def _other(lost_to: ElectionLost) -> ControllerView:
    """Return the view of a controller in another pod, named by its address: its pod is unknown."""
    info = lost_to.controller
    if info is None:
        return ControllerView(identity="unknown", epoch=lost_to.controller_epoch)
    identity = f"broker-{info.controller_id}" if info.host is None else f"{info.host}:{info.port}"
    return ControllerView(
        identity=identity,
        epoch=lost_to.controller_epoch,
        elected_ms=info.timestamp_ms or None,
    )
