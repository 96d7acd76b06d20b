"""The readiness gate `ballast.dev/in-sync` of a broker's pod.

It becomes true when the process in the pod has registered and all its replicas, of partitions with
a live leader, are back in the ISR. Kubernetes then counts the pod as ready and continues a rolling
update with the next one.

It becomes false again only if the broker is not registered, or is a new process (the gate's message
names the container that it was set for). A replica that leaves the ISR for a moment under load does
not make the pod unready: removing a loaded broker from the Service, and counting it as disrupted,
would repair nothing. The status and the disruption budget show the current ISR.

A gate does not open either while the cluster has no controller: the ISR in Metadata is then as old
as the last controller, and may be older than the start of the broker.

Not required: replicas that a reassignment is adding (that can take hours), and replicas of
partitions without a leader (they cannot catch up).
"""

from dataclasses import dataclass

from ballast.brokersets.observation.observation import Cluster, PodView
from ballast.brokersets.observation.partition_counts import PartitionCounts


@dataclass(frozen=True, slots=True, kw_only=True)
class GateDecision:
    """The value of a pod's gate."""

    is_true: bool
    reason: str
    message: str = ""


NOT_REGISTERED = GateDecision(
    is_true=False, reason="NotRegistered", message="the broker is not registered"
)
CLUSTER_UNKNOWN = GateDecision(
    is_true=False, reason="ClusterUnknown", message="no broker answers: the ISR is unknown"
)
NO_CONTROLLER = GateDecision(
    is_true=False,
    reason="NoController",
    message="the cluster has no controller: the ISR in Metadata may be outdated",
)
CONFIG_PENDING = GateDecision(
    is_true=False,
    reason="ConfigPending",
    message="dynamic configs of the spec are not set on the brokers",
)


def decide_gate(  # noqa: PLR0911  (a list of rules)
    pod: PodView,
    broker_id: int,
    cluster: Cluster | None,
    counts: PartitionCounts,
    *,
    is_configured: bool,
    has_controller: bool,
) -> GateDecision:
    """Return the value of a pod's gate.

    ``is_configured``: whether the dynamic configs are in force. Clients must not reach a broker
    before that: it could acknowledge records under a lower min.insync.replicas.
    """
    if not pod.containers_ready:
        return NOT_REGISTERED
    in_sync = GateDecision(
        is_true=True,
        reason="InSync",
        message=f"every replica was brought in sync by container {pod.container_id}",
    )
    is_open = pod.gate is not None and pod.gate.is_true and pod.gate.message == in_sync.message
    if cluster is None:
        return in_sync if is_open else CLUSTER_UNKNOWN
    if broker_id not in cluster.live_brokers:
        return NOT_REGISTERED
    if is_open:
        return in_sync
    if not has_controller:
        return NO_CONTROLLER
    if not is_configured:
        return CONFIG_PENDING
    behind = counts.of(broker_id).behind
    if behind:
        return GateDecision(
            is_true=False, reason="CatchingUp", message=f"{behind} replicas are not in sync"
        )
    return in_sync
