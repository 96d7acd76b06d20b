"""``status`` of a BrokerSet as in the custom resource: less than 8 KB of JSON."""

import json
from collections.abc import Mapping, Sequence
from typing import Any, Final

from ballast.brokersets import names
from ballast.brokersets.observation.observation import ControllerView, PodView
from ballast.brokersets.observation.volumes import storage_status
from ballast.brokersets.status.broker_states import BrokerStatus
from ballast.brokersets.status.conditions import ConditionType, Facts, Findings
from ballast.model.conditions import conditions_from_documents, timestamp, updated

MAX_BYTES: Final = 7800
_FULL: Final = ("id", "podName", "state", "rack", "leaders", "replicas", "underReplicated", "bytes")
_SHORT: Final = ("id", "state", "leaders", "replicas", "underReplicated")
_LAST: Final = "lastHeartbeatTime"

Status = dict[str, Any]


def status_document(
    facts: Facts,
    findings: Findings,
    brokers: Sequence[BrokerStatus],
    *,
    before: Mapping[str, Any],
    now_ms: int,
) -> Status:
    """Return the status of an observed set; ``before`` is the last one."""
    spec, observation, counts = facts.spec, facts.observation, facts.counts
    status: Status = {
        "observedGeneration": spec.identity.generation,
        "conditions": _conditions(before, findings, spec.identity.generation, now_ms),
    }
    if not spec.is_external:
        status |= {
            "summary": f"{facts.ready_brokers}/{spec.replicas}",
            "replicas": len(observation.pods),
            "readyReplicas": sum(pod.is_ready for pod in observation.pods),
            "updatedReplicas": len(observation.pods) - _outdated(facts, observation.pods),
            "selector": names.selector(spec.identity.name),
        }
        if storage := storage_status(spec, observation.volumes):
            status["storage"] = storage
    if facts.ensemble.accepted is not None:
        status["zooKeeper"] = facts.ensemble.accepted.to_document()
    if observation.controller is not None:
        status["controller"] = _controller(observation.controller)
    if observation.cluster is not None:
        status["partitions"] = {
            "total": counts.total,
            "leaderless": counts.leaderless,
            "underReplicated": counts.under_replicated,
            "underMinISR": counts.under_min_isr,
            "atMinISR": counts.at_min_isr,
            "reassigning": counts.reassigning,
        }
    room = MAX_BYTES - len(json.dumps(status | {"brokers": []}))
    status["brokers"] = _brokers(brokers, room)
    return status


def rejected_status(
    findings: Findings, *, before: Mapping[str, Any], generation: int, now_ms: int
) -> Status:
    """Return the status of a set with an invalid spec: all but the conditions stays."""
    return {
        **before,
        "observedGeneration": generation,
        "conditions": _conditions(before, findings, generation, now_ms),
    }


def _conditions(
    before: Mapping[str, Any], findings: Findings, generation: int, now_ms: int
) -> list[dict[str, object]]:
    old = conditions_from_documents(ConditionType, before.get("conditions"))
    conditions = updated(ConditionType, old, findings, generation=generation, now_ms=now_ms)
    return [condition.to_document() for condition in conditions.values()]


def _outdated(facts: Facts, pods: Sequence[PodView]) -> int:
    stateful_set = facts.observation.stateful_set
    if stateful_set is None:
        return 0
    return sum(pod.revision != stateful_set.update_revision for pod in pods)


def _controller(controller: ControllerView) -> Status:
    document: Status = {"identity": controller.identity}
    if controller.epoch is not None:
        document["epoch"] = controller.epoch
    if controller.elected_ms is not None:
        document["electedTime"] = timestamp(controller.elected_ms)
    return document


def _brokers(brokers: Sequence[BrokerStatus], room: int) -> list[Status]:
    """Return as much of the brokers as there is room for.

    All fields of all brokers; else the most important fields of all; else these of as many brokers
    as fit, first those that need attention.
    """
    for fields in (_FULL, _SHORT):
        documents = [_broker(broker, fields) for broker in brokers]
        if len(json.dumps(documents)) <= room:
            return documents
    kept = []
    for broker in sorted(brokers, key=lambda b: (b.is_well, b.broker_id)):
        document = _broker(broker, _SHORT)
        room -= len(json.dumps(document)) + 2
        if room < 0:
            break
        kept.append(document)
    return sorted(kept, key=lambda document: int(document["id"]))


def _broker(broker: BrokerStatus, fields: Sequence[str]) -> Status:
    document = broker.to_document()
    return {name: document[name] for name in (*fields, _LAST) if name in document}
