"""Parses a BrokerSet's document, whatever its content.

The API server's schema refuses most of what is refused here, but the operator does not rely on it.
"""

import re
from collections.abc import Mapping
from typing import Any

from ballast.brokersets.errors import InvalidBrokerSet
from ballast.brokersets.spec.config_keys import is_forbidden, is_unserved, refusal
from ballast.brokersets.spec.parse_template import parse_annotations, parse_network, parse_template
from ballast.brokersets.spec.spec import (
    BrokerSetSpec,
    DesiredState,
    DisruptionPolicy,
    Identity,
    RebalanceOnScaleOut,
    Retention,
    ScaleDown,
    ScaleDownPolicy,
    Storage,
    UpdateStrategy,
    ZooKeeper,
)
from ballast.model.fields import MAX_INT, Errors, Reader, show, type_name

MAX_REPLICAS = 1000
MAX_DECOMMISSIONED = 100
MAX_CONFIG = 64
MAX_NAME = 40
MIN_STORAGE_BYTES = 2**20
_MAX_ID_OFFSET = 1_000_000

_NAME = re.compile(r"[a-z]([-a-z0-9]*[a-z0-9])?")
_SERVERS = re.compile(
    r"([A-Za-z0-9]([-A-Za-z0-9.]*[A-Za-z0-9])?|\[[0-9A-Fa-f:.]+\]):[0-9]{1,5}"
    r"(,([A-Za-z0-9]([-A-Za-z0-9.]*[A-Za-z0-9])?|\[[0-9A-Fa-f:.]+\]):[0-9]{1,5})*"
)
_CHROOT = re.compile(r"(/[A-Za-z0-9_-][A-Za-z0-9._-]*)+")
_IMAGE = re.compile(r"[A-Za-z0-9]([A-Za-z0-9._/:-]*[A-Za-z0-9])?(@sha256:[0-9a-f]{64})?")
_CLASS = re.compile(r"[a-z0-9]([-a-z0-9.]*[a-z0-9])?")
_LABEL_KEY = re.compile(
    r"([a-z0-9]([-a-z0-9.]*[a-z0-9])?/)?[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?"
)
_PROPERTY = re.compile(r"[a-z][a-z0-9.]{0,127}")
# One line of a properties file: no line break, no backslash, which would join two lines.
_VALUE = re.compile(r"([!-\[\]-~]([ -\[\]-~]*[!-\[\]-~])?)?")

_MANAGED = (
    "zookeeper",
    "image",
    "config",
    "rack",
    "storage",
    "update",
    "scaleDown",
    "rebalanceOnScaleOut",
    "decommission",
    "disruption",
    "shutdown",
    "template",
    "networkPolicy",
)
_KNOWN = ("replicas", "bootstrapServers", "brokerIdOffset", "desiredState", *_MANAGED)


def parse_broker_set(document: Mapping[str, Any]) -> BrokerSetSpec:
    """Return the spec of a BrokerSet's document.

    Raises `InvalidBrokerSet`, naming every field that is wrong.
    """
    errors = Errors()
    identity = _read_identity(document, errors)
    spec = Reader(document.get("spec"), "spec", errors, _KNOWN)
    if spec.has("replicas") == spec.has("bootstrapServers"):
        errors.add("spec", "must have exactly one of replicas and bootstrapServers")
    parse = _read_external if spec.has("bootstrapServers") else _read_managed
    result = parse(spec, identity)
    if errors.found or result is None:
        raise InvalidBrokerSet(errors.found)
    return result


def _read_identity(document: Mapping[str, Any], errors: Errors) -> Identity:
    metadata = document.get("metadata")
    fields: Mapping[str, Any] = metadata if isinstance(metadata, Mapping) else {}
    name = str(fields.get("name", ""))
    if not _NAME.fullmatch(name) or len(name) > MAX_NAME:
        errors.add(
            "metadata.name",
            f"must have at most {MAX_NAME} lower case letters, digits and '-', a letter first",
        )
    generation = fields.get("generation", 0)
    return Identity(
        name=name,
        namespace=str(fields.get("namespace", "")),
        uid=str(fields.get("uid", "")),
        generation=generation if isinstance(generation, int) else 0,
    )


def _read_external(spec: Reader, identity: Identity) -> BrokerSetSpec:
    for name in _MANAGED:
        if spec.has(name):
            spec.refuse(
                name, "must be absent with bootstrapServers: an existing cluster is not managed"
            )
    return BrokerSetSpec(
        identity=identity,
        bootstrap_servers=_matching(spec, "bootstrapServers", _SERVERS, "host:port", 1024),
        desired_state=spec.choice("desiredState", DesiredState.RUNNING),
    )


def _read_managed(spec: Reader, identity: Identity) -> BrokerSetSpec | None:
    zookeeper, storage = _read_zookeeper(spec), _read_storage(spec)
    if zookeeper is None or storage is None:
        return None
    offset = spec.integer("brokerIdOffset", 0, maximum=_MAX_ID_OFFSET)
    shutdown = spec.nested("shutdown", ("gracePeriodSeconds",))
    update = spec.nested("update", ("strategy",))
    disruption = spec.nested("disruption", ("policy",))
    return BrokerSetSpec(
        identity=identity,
        replicas=spec.integer("replicas", 0, minimum=1, maximum=MAX_REPLICAS),
        broker_id_offset=offset,
        zookeeper=zookeeper,
        image=_matching(spec, "image", _IMAGE, "an image reference", 512),
        config=_read_config(spec),
        rack_topology_key=_read_rack(spec),
        storage=storage,
        update_strategy=update.choice("strategy", UpdateStrategy.ROLLING_UPDATE),
        scale_down=_read_scale_down(spec),
        rebalance_on_scale_out=spec.choice("rebalanceOnScaleOut", RebalanceOnScaleOut.NONE),
        decommissioned=_read_decommissioned(spec),
        disruption=disruption.choice("policy", DisruptionPolicy.DYNAMIC),
        grace_period_seconds=shutdown.integer("gracePeriodSeconds", 120, minimum=10, maximum=3600),
        template=parse_template(spec),
        annotations=parse_annotations(spec),
        network=parse_network(spec),
        desired_state=spec.choice("desiredState", DesiredState.RUNNING),
    )


def _matching(
    reader: Reader, name: str, form: re.Pattern[str], what: str, max_length: int
) -> str | None:
    text = reader.string(name, max_length=max_length)
    if text is not None and not form.fullmatch(text):
        reader.refuse(name, f"must be {what}")
        return None
    return text


def _read_zookeeper(spec: Reader) -> ZooKeeper | None:
    if not spec.has("zookeeper"):
        spec.refuse("zookeeper", "is required with replicas")
        return None
    zookeeper = spec.nested("zookeeper", ("connect", "chroot", "sessionTimeoutSeconds"))
    connect = _matching(zookeeper, "connect", _SERVERS, "host:port, comma separated", 1024)
    if not zookeeper.has("connect"):
        zookeeper.refuse("connect", "is required")
    return ZooKeeper(
        connect=connect or "",
        chroot=_matching(zookeeper, "chroot", _CHROOT, "a path such as /prod", 128) or "",
        session_timeout_seconds=zookeeper.integer(
            "sessionTimeoutSeconds", 18, minimum=2, maximum=300
        ),
    )


def _read_storage(spec: Reader) -> Storage | None:
    if not spec.has("storage"):
        spec.refuse("storage", "is required with replicas")
        return None
    storage = spec.nested("storage", ("size", "storageClassName", "retention"))
    if not storage.has("size"):
        storage.refuse("size", "is required")
    retention = storage.nested("retention", ("whenScaled", "whenDeleted"))
    return Storage(
        size=str(storage.raw("size")),
        size_bytes=storage.quantity("size", minimum=MIN_STORAGE_BYTES) or 0,
        storage_class_name=_matching(
            storage, "storageClassName", _CLASS, "the name of a storage class", 253
        ),
        when_scaled=retention.choice("whenScaled", Retention.RETAIN),
        when_deleted=retention.choice("whenDeleted", Retention.RETAIN),
    )


def _read_config(spec: Reader) -> dict[str, str]:
    config = spec.raw("config") if spec.has("config") else {}
    if not isinstance(config, Mapping):
        spec.refuse("config", f"must be a mapping, not {type_name(config)}")
        return {}
    if len(config) > MAX_CONFIG:
        spec.refuse("config", f"must have at most {MAX_CONFIG} properties")
        return {}
    properties = {}
    for name, value in config.items():
        reason = _property_refusal(name, value)
        if reason is not None:
            spec.refuse(f"config.{show(name)}", reason)
        else:
            properties[str(name)] = str(value)
    return properties


def _property_refusal(name: object, value: object) -> str | None:
    if not isinstance(name, str) or not _PROPERTY.fullmatch(name):
        return "is not a property's name"
    if is_forbidden(name):
        return "is Ballast's own and cannot be set"
    if is_unserved(name):
        return "belongs to a part of Kafka that Ballast's brokers do not have"
    if not isinstance(value, str):
        return f"must be a string, not {type_name(value)}"
    if len(value) > 1024 or not _VALUE.fullmatch(value):
        return "must be one line of printable ASCII without a backslash"
    return refusal(name, value)


def _read_rack(spec: Reader) -> str | None:
    if not spec.has("rack"):
        return None
    rack = spec.nested("rack", ("topologyKey",))
    key = _matching(rack, "topologyKey", _LABEL_KEY, "a label's key", 317)
    return key or "topology.kubernetes.io/zone"


def _read_scale_down(spec: Reader) -> ScaleDown:
    scale_down = spec.nested("scaleDown", ("policy", "reassignment"))
    execution = scale_down.nested("reassignment", ("execution",)).raw("execution")
    if execution is not None and not isinstance(execution, Mapping):
        scale_down.refuse("reassignment.execution", "must be a mapping")
        execution = None
    return ScaleDown(
        policy=scale_down.choice("policy", ScaleDownPolicy.DRAIN), execution=execution or {}
    )


def _read_decommissioned(spec: Reader) -> frozenset[int]:
    decommission = spec.nested("decommission", ("brokerIds",))
    if not decommission.has("brokerIds"):
        return frozenset()
    ids = set()
    for index, value in enumerate(decommission.sequence("brokerIds", max_items=MAX_DECOMMISSIONED)):
        if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= MAX_INT:
            decommission.refuse(f"brokerIds[{index}]", "must be a broker id")
        else:
            ids.add(value)
    return frozenset(ids)
