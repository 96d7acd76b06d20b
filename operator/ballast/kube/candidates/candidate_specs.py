"""The controller candidate that a BrokerSet specifies, parsed from the object of the API."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from hashlib import sha256
from typing import Any, Final

from ballast.brokersets.steps.ensemble import accepted_of
from ballast.candidate.options import ControllerOptions, channel_options
from ballast.model.settings.addresses import zookeeper_of
from ballast.model.settings.controller_config import ControllerConfig
from ballast.model.settings.fields import parse_settings
from ballast.model.settings.values import INT_MAX
from ballast.znodes.owner import Owner

FIRST_CANDIDATE_ID: Final = 1_000_000
"""Broker ids are lower: `brokerIdOffset` and the number of replicas are limited."""
_CANDIDATE_IDS: Final = INT_MAX - 2 * FIRST_CANDIDATE_ID

Spec = Mapping[str, Any]


def candidate_id_of(pod_name: str) -> int:
    """Return the id of a replica's candidates: the same after a restart, another one in each pod.

    The range of two thousand million ids makes a collision of two replicas very unlikely. With the
    same id, each would take the other's election for its own, ZooKeeper would refuse both, and both
    would run for election again.
    """
    digest = sha256(pod_name.encode()).digest()
    return 2 * FIRST_CANDIDATE_ID + int.from_bytes(digest[:8], "big") % _CANDIDATE_IDS


@dataclass(frozen=True, slots=True, kw_only=True)
class CandidateSpec:
    """The configuration of a candidate; some changes need a new candidate (`needs_another`)."""

    zookeeper_connect: str
    """Kafka's ``zookeeper.connect``, chroot included."""
    session_timeout_s: float
    owner: Owner | None = None
    """The BrokerSet, which must own the path in ZooKeeper."""
    config: ControllerConfig
    """The properties of ``spec.config`` that controllers read."""
    removed_ids_start: int | None = None
    """From this id on, the spec has no broker and no pod exists."""

    @classmethod
    def from_document(cls, document: Mapping[str, Any]) -> "CandidateSpec | None":
        """Return the candidate of a BrokerSet, None for a cluster with a controller elsewhere.

        The ensemble is the one that held the cluster last (`status.zooKeeper`): another one in the
        spec may hold another cluster, or none. Raises `ValueError` for an invalid spec.
        """
        spec = document.get("spec", {})
        zookeeper = spec.get("zookeeper")
        if zookeeper is None:
            return None
        config = spec.get("config") or {}
        accepted = accepted_of(document.get("status") or {})
        servers = accepted.connect if accepted else str(zookeeper.get("connect", ""))
        return cls(
            zookeeper_connect=zookeeper_of(servers + str(zookeeper.get("chroot") or "")),
            session_timeout_s=float(zookeeper.get("sessionTimeoutSeconds") or 18),
            owner=_owner_of(document),
            config=ControllerConfig(**parse_settings(ControllerConfig, config)),
            removed_ids_start=_removed_ids_start(document),
        )

    def needs_another(self, other: "CandidateSpec") -> bool:
        """Whether a change to ``other`` needs a new candidate."""
        return _made_of(self) != _made_of(other)

    def controller_options(self, is_cordoned: Callable[[int], bool]) -> ControllerOptions:
        """Return the options of the elected controller."""
        return ControllerOptions(
            config=self.config,
            is_cordoned=is_cordoned,
            removed_ids_start=self.removed_ids_start,
        )


def _made_of(spec: CandidateSpec) -> tuple[object, ...]:
    return (
        spec.zookeeper_connect,
        spec.session_timeout_s,
        spec.owner,
        # A controller that starts elects leaders with it for the partitions that are offline.
        spec.config.unclean_leader_election_enable,
        channel_options(spec.config),
    )


def _removed_ids_start(document: Mapping[str, Any]) -> int | None:
    """Return the first id of brokers that were scaled in; None while that is unknown."""
    spec, status = document.get("spec") or {}, document.get("status") or {}
    desired, existing = spec.get("replicas"), status.get("replicas")
    if not isinstance(desired, int) or not isinstance(existing, int):
        return None
    return int(spec.get("brokerIdOffset") or 0) + max(desired, existing)


def _owner_of(document: Mapping[str, Any]) -> Owner | None:
    metadata = document.get("metadata") or {}
    uid = metadata.get("uid")
    if not uid:
        return None
    return Owner(namespace=metadata["namespace"], name=metadata["name"], uid=uid)


@dataclass(frozen=True, slots=True, kw_only=True)
class Cordons:
    """The brokers that get no new replicas because they are to be removed."""

    ids_end: int | None = None
    """Ids from here on are beyond the number of replicas; None = no id is."""
    broker_ids: frozenset[int] = frozenset()

    @classmethod
    def from_spec(cls, spec: Spec) -> "Cordons":
        """Return the brokers that a BrokerSet is to remove."""
        replicas = spec.get("replicas")
        decommission = spec.get("decommission") or {}
        return cls(
            ids_end=None if replicas is None else spec.get("brokerIdOffset", 0) + replicas,
            broker_ids=frozenset(decommission.get("brokerIds") or ()),
        )

    def covers(self, broker_id: int) -> bool:
        """Whether the broker gets no new replicas."""
        is_beyond = self.ids_end is not None and broker_id >= self.ids_end
        return is_beyond or broker_id in self.broker_ids
