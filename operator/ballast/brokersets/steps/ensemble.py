"""Which ZooKeeper a set's brokers and controllers may go to, and which not. Pure.

A set is bound to the cluster whose id ``/cluster/id`` tells. ``status.zooKeeper`` remembers where
it was last found. Another ``spec.zookeeper.connect`` is taken only when the same id is found there:
until then the controllers stay, and brokers are not restarted for it. Were it taken at once, a name
that does not exist would leave the cluster without a controller, and restart a broker into nothing.

A path that belongs to another set is never used: two sets on one path would be one cluster. Nor is
one on which an earlier set has left topics, when the volumes are new: every partition would wait
for replicas whose disks are gone.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from ballast.brokersets.spec.spec import BrokerSetSpec
from ballast.brokersets.steps.rolling_update import UpdateBlock


@dataclass(frozen=True, slots=True, kw_only=True)
class Accepted:
    """``status.zooKeeper``: where the set's cluster was found."""

    connect: str
    """Without the chroot."""
    cluster_id: str

    def to_document(self) -> dict[str, str]:
        """Return the field of the status."""
        return {"connect": self.connect, "clusterId": self.cluster_id}


@dataclass(frozen=True, slots=True, kw_only=True)
class EnsembleAnswer:
    """What was found at ``spec.zookeeper``."""

    error: str | None = None
    """Why nothing was; None when the ensemble has answered."""
    cluster_id: str | None = None
    """None: there is no cluster yet."""
    other_owner: str | None = None
    """``namespace/name`` of another set to which the path belongs."""
    has_topics: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class EnsembleState:
    """What is to be done with ``spec.zookeeper``."""

    accepted: Accepted | None = None
    """What ``status.zooKeeper`` is to be; None = nothing is known yet."""
    block: UpdateBlock | None = None
    """Why ``spec.zookeeper`` is not followed."""
    is_stopped: bool = False
    """Nothing of the set is changed: the hold concerns all of it."""


def accepted_of(status: Mapping[str, Any]) -> Accepted | None:
    """Return what a set's status remembers; None when that is nothing."""
    known = status.get("zooKeeper")
    if not isinstance(known, Mapping):
        return None
    connect, cluster_id = known.get("connect"), known.get("clusterId")
    if isinstance(connect, str) and connect and isinstance(cluster_id, str) and cluster_id:
        return Accepted(connect=connect, cluster_id=cluster_id)
    return None


def must_ask(spec: BrokerSetSpec, accepted: Accepted | None) -> bool:
    """Whether the ensemble of the spec has to be asked what it holds."""
    if spec.zookeeper is None:
        return False
    return accepted is None or accepted.connect != spec.zookeeper.connect


def resolve_ensemble(
    spec: BrokerSetSpec,
    accepted: Accepted | None,
    answer: EnsembleAnswer | None,
    *,
    is_new: bool,
    brokers_cluster_id: str | None,
) -> EnsembleState:
    """Return what becomes of ``spec.zookeeper``.

    ``answer`` is None when nobody was asked; ``is_new``: the set has neither brokers nor volumes;
    ``brokers_cluster_id`` is what its brokers tell, None when they do not answer.
    """
    if answer is None or spec.zookeeper is None:
        return EnsembleState(accepted=accepted)
    if accepted is not None:
        return _moved(spec, accepted, answer)
    stop = _stop(spec, answer, is_new=is_new)
    if stop is not None:
        return EnsembleState(block=stop, is_stopped=True)
    if answer.cluster_id is None or answer.cluster_id != brokers_cluster_id:
        return EnsembleState()
    found = Accepted(connect=spec.zookeeper.connect, cluster_id=answer.cluster_id)
    return EnsembleState(accepted=found)


def _stop(spec: BrokerSetSpec, answer: EnsembleAnswer, *, is_new: bool) -> UpdateBlock | None:
    """Return why nothing of a set may be done whose cluster is not known yet."""
    assert spec.zookeeper is not None, "only a managed set is settled"
    if answer.error is not None:
        # Pods that run already find out for themselves; a new set might be on another's path.
        return UpdateBlock(reason="ZooKeeperDisconnected", message=answer.error) if is_new else None
    if answer.other_owner is not None:
        return _taken(spec, answer)
    if not is_new or not answer.has_topics:
        return None
    return UpdateBlock(
        reason="StaleMetadata",
        message=(
            f"{spec.zookeeper.connect_string} holds the topics of an earlier set, and this one has "
            "no volumes: restore them, use another chroot, or delete the path in ZooKeeper"
        ),
    )


def _moved(spec: BrokerSetSpec, accepted: Accepted, answer: EnsembleAnswer) -> EnsembleState:
    assert spec.zookeeper is not None, "only a managed set is settled"
    connect = spec.zookeeper.connect
    stays = f"brokers and controllers stay with {accepted.connect}"
    if answer.error is not None:
        block = UpdateBlock(reason="ZooKeeperUnreachable", message=f"{answer.error}; {stays}")
    elif answer.cluster_id != accepted.cluster_id:
        there = "no cluster" if answer.cluster_id is None else f"cluster {answer.cluster_id}"
        block = UpdateBlock(
            reason="ZooKeeperOtherCluster",
            message=f"{connect} holds {there}, not {accepted.cluster_id}; {stays}",
        )
    elif answer.other_owner is not None:
        block = _taken(spec, answer)
    else:
        return EnsembleState(accepted=replace(accepted, connect=connect))
    return EnsembleState(accepted=accepted, block=block)


def _taken(spec: BrokerSetSpec, answer: EnsembleAnswer) -> UpdateBlock:
    assert spec.zookeeper is not None, "only a managed set is settled"
    return UpdateBlock(
        reason="ZooKeeperPathTaken",
        message=(
            f"{spec.zookeeper.connect_string} belongs to the BrokerSet {answer.other_owner}: "
            "give each set a chroot of its own"
        ),
    )


def effective_spec(spec: BrokerSetSpec, state: EnsembleState) -> BrokerSetSpec:
    """Return the spec with the ensemble that is followed."""
    if spec.zookeeper is None or state.accepted is None:
        return spec
    zookeeper = replace(spec.zookeeper, connect=state.accepted.connect)
    return replace(spec, zookeeper=zookeeper)
