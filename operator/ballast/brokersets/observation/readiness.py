"""The readiness gate `ballast.dev/in-sync` of a broker's pod.

It becomes true when the process in the pod has registered and each replica that it hosts, and whose
partition has a live leader, is back in the ISR. Kubernetes then counts the pod as ready, and goes
on to the next one in a rolling update.

It becomes false again only when the broker is gone: not registered, or a new process (the gate's
message names the container that it was set for). A replica that leaves the ISR for a moment under
load does not make the pod unready: taking a loaded broker from the Service, and counting it as
disrupted, would heal nothing. What is in sync at any moment is told by the status and the
disruption budget.

Nor does a gate open while nobody is the cluster's controller: what brokers tell of the ISR is then
as old as the last controller, and may be from before the broker was started.

Not waited for: replicas that a reassignment is bringing here (that may take hours, and the broker
owes them to nobody yet), and partitions without a leader (there is nobody to catch up with).
"""

from dataclasses import dataclass

from ballast.brokersets.observation.observation import Cluster, PodView
from ballast.brokersets.observation.partition_counts import PartitionCounts


@dataclass(frozen=True, slots=True, kw_only=True)
class GateDecision:
    """What the gate of a pod should be."""

    is_true: bool
    reason: str
    message: str = ""


NOT_REGISTERED = GateDecision(
    is_true=False, reason="NotRegistered", message="the broker is not registered"
)
CLUSTER_UNKNOWN = GateDecision(
    is_true=False, reason="ClusterUnknown", message="no broker answers: nothing is known of the ISR"
)
NO_CONTROLLER = GateDecision(
    is_true=False,
    reason="NoController",
    message="nobody is the cluster's controller: what brokers tell of the ISR may be old",
)
CONFIG_PENDING = GateDecision(
    is_true=False, reason="ConfigPending", message="configs of the spec are not set on the brokers"
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
    """Return what the gate of a pod should be.

    ``is_configured``: whether the configs that go without a restart are in force. A broker is not
    shown to clients before, lest one be acknowledged under a lower min.insync.replicas.
    """
    if not pod.containers_ready:
        return NOT_REGISTERED
    in_sync = GateDecision(
        is_true=True,
        reason="InSync",
        message=f"every replica was brought in sync by container {pod.container_id}",
    )
    held = pod.gate is not None and pod.gate.is_true and pod.gate.message == in_sync.message
    if cluster is None:
        return in_sync if held else CLUSTER_UNKNOWN
    if broker_id not in cluster.live_brokers:
        return NOT_REGISTERED
    if held:
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
