"""Which ZooKeeper ensemble the brokers and controllers of a set may use. Pure.

A set is bound to the cluster id in ``/cluster/id``. ``status.zooKeeper`` has the address where that
id was last found. A new ``spec.zookeeper.connect`` is used only if the same id is found there.
Until then the controllers stay connected and brokers are not restarted for it: otherwise a wrong
address would leave the cluster without a controller and restart a broker that cannot register.

A path that belongs to another set is never used: two sets on one path would form one cluster. Nor
is a path with the topics of an earlier set if the volumes are new: every partition would wait for
replicas whose disks no longer exist.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from ballast.brokersets.spec.spec import BrokerSetSpec
from ballast.brokersets.steps.rolling_update import UpdateBlock


@dataclass(frozen=True, slots=True, kw_only=True)
class Accepted:
    """``status.zooKeeper``: where the cluster id of the set was found."""

    connect: str
    """Without the chroot."""
    cluster_id: str

    def to_document(self) -> dict[str, str]:
        """Return the field of the status."""
        return {"connect": self.connect, "clusterId": self.cluster_id}


@dataclass(frozen=True, slots=True, kw_only=True)
class EnsembleAnswer:
    """The answer of the ensemble at ``spec.zookeeper``."""

    error: str | None = None
    """Why there is no answer; None if the ensemble has answered."""
    cluster_id: str | None = None
    """None = there is no cluster yet."""
    other_owner: str | None = None
    """``namespace/name`` of another set that owns the path."""
    has_topics: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class EnsembleState:
    """Whether and how ``spec.zookeeper`` is used."""

    accepted: Accepted | None = None
    """The new ``status.zooKeeper``; None = unknown so far."""
    block: UpdateBlock | None = None
    """Why ``spec.zookeeper`` is not used."""
    is_stopped: bool = False
    """Whether the block stops all changes of the set."""


def accepted_of(status: Mapping[str, Any]) -> Accepted | None:
    """Return the accepted ensemble in a set's status, or None."""
    document = status.get("zooKeeper")
    if not isinstance(document, Mapping):
        return None
    connect, cluster_id = document.get("connect"), document.get("clusterId")
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
    """Return whether ``spec.zookeeper`` may be used.

    ``answer`` is None if no ensemble was asked. ``is_new``: the set has no brokers and no volumes.
    ``brokers_cluster_id`` is the id that its brokers report, None if they do not answer.
    """
    if answer is None or spec.zookeeper is None:
        return EnsembleState(accepted=accepted)
    if accepted is not None:
        return _new_address(spec, accepted, answer)
    stop = _new_set_block(spec, answer, is_new=is_new)
    if stop is not None:
        return EnsembleState(block=stop, is_stopped=True)
    if answer.cluster_id is None or answer.cluster_id != brokers_cluster_id:
        return EnsembleState()
    new = Accepted(connect=spec.zookeeper.connect, cluster_id=answer.cluster_id)
    return EnsembleState(accepted=new)


def _new_set_block(
    spec: BrokerSetSpec, answer: EnsembleAnswer, *, is_new: bool
) -> UpdateBlock | None:
    """Return why nothing may be done for a set whose cluster is unknown, or None."""
    assert spec.zookeeper is not None, "only a managed set has an ensemble"
    if answer.error is not None:
        # Running pods keep trying to connect; but a new set might use the path of another set.
        return UpdateBlock(reason="ZooKeeperDisconnected", message=answer.error) if is_new else None
    if answer.other_owner is not None:
        return _path_taken_block(spec, answer)
    if not is_new or not answer.has_topics:
        return None
    return UpdateBlock(
        reason="StaleMetadata",
        message=(
            f"{spec.zookeeper.connect_string} holds the topics of an earlier set, and this one has "
            "no volumes: restore them, use another chroot, or delete the path in ZooKeeper"
        ),
    )


def _new_address(spec: BrokerSetSpec, accepted: Accepted, answer: EnsembleAnswer) -> EnsembleState:
    assert spec.zookeeper is not None, "only a managed set has an ensemble"
    connect = spec.zookeeper.connect
    stays = f"brokers and controllers keep using {accepted.connect}"
    if answer.error is not None:
        block = UpdateBlock(reason="ZooKeeperUnreachable", message=f"{answer.error}; {stays}")
    elif answer.cluster_id != accepted.cluster_id:
        there = "no cluster" if answer.cluster_id is None else f"cluster {answer.cluster_id}"
        block = UpdateBlock(
            reason="ZooKeeperOtherCluster",
            message=f"{connect} holds {there}, not {accepted.cluster_id}; {stays}",
        )
    elif answer.other_owner is not None:
        block = _path_taken_block(spec, answer)
    else:
        return EnsembleState(accepted=replace(accepted, connect=connect))
    return EnsembleState(accepted=accepted, block=block)


def _path_taken_block(spec: BrokerSetSpec, answer: EnsembleAnswer) -> UpdateBlock:
    assert spec.zookeeper is not None, "only a managed set has an ensemble"
    return UpdateBlock(
        reason="ZooKeeperPathTaken",
        message=(
            f"{spec.zookeeper.connect_string} belongs to the BrokerSet {answer.other_owner}: "
            "give each set a chroot of its own"
        ),
    )


def effective_spec(spec: BrokerSetSpec, state: EnsembleState) -> BrokerSetSpec:
    """Return the spec with the ensemble in use."""
    if spec.zookeeper is None or state.accepted is None:
        return spec
    zookeeper = replace(spec.zookeeper, connect=state.accepted.connect)
    return replace(spec, zookeeper=zookeeper)
