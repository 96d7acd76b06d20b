"""Fetching the plan that a reassignment names.

Inline assignments are in the spec. A ConfigMap holds Kafka's reassignment JSON, or the index of a
plan in ``ballast-plan/v1`` chunks.
"""

import base64
import binascii
from dataclasses import dataclass
from typing import Final

from ballast.kube.errors import NotFound
from ballast.kube.ports import KubernetesApi
from ballast.kube.reassignment_state import StoredObject
from ballast.kube.resources import CONFIG_MAPS, Document
from ballast.model.fields import FieldError
from ballast.reassign.errors import ManifestRejected
from ballast.reassign.plan_manifest import PlanConfigMap, read_kafka_plan
from ballast.reassign.spec import Assignments

PATH: Final = "spec.plan.configMapRef"


class PlanNotReadable(Exception):
    """The plan is not there, or is not one; it may be put right without changing the spec."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadedPlan:
    """A plan and where it came from."""

    assignments: Assignments
    objects: tuple[StoredObject, ...] = ()
    """The ConfigMaps it was read from."""


async def load_plan(api: KubernetesApi, namespace: str, source: PlanConfigMap) -> LoadedPlan:
    """Return the plan in a ConfigMap. Raises `PlanNotReadable` and `KubernetesError`."""
    try:
        document = await api.get(CONFIG_MAPS, namespace, source.name)
    except NotFound as error:
        raise PlanNotReadable(f"{PATH}.name: there is no ConfigMap {source.name}") from error
    key, content = entry(document, source)
    try:
        assignments = read_kafka_plan(content.decode(), f"{PATH}: {source.name}/{key}")
    except UnicodeDecodeError as error:
        raise PlanNotReadable(f"{PATH}: {source.name}/{key} is not UTF-8") from error
    except ManifestRejected as error:
        raise PlanNotReadable(str(error)) from error
    return LoadedPlan(assignments=assignments)


def entry(document: Document, source: PlanConfigMap) -> tuple[str, bytes]:
    """Return the key and the bytes of the entry that ``source`` names, or of the only one.

    Raises `PlanNotReadable`.
    """
    texts, binaries = document.get("data") or {}, document.get("binaryData") or {}
    keys = sorted({*texts, *binaries})
    key = source.key
    if key is None:
        if len(keys) != 1:
            raise PlanNotReadable(
                f"{PATH}.key: is required: ConfigMap {source.name} has {len(keys)} entries"
            )
        key = keys[0]
    if key in texts:
        return key, str(texts[key]).encode()
    try:
        return key, base64.b64decode(binaries[key], validate=True)
    except KeyError:
        message = str(FieldError(path=f"{PATH}.key", reason=f"{source.name} has no entry {key}"))
    except (TypeError, binascii.Error):
        message = f"{PATH}: {source.name}/{key} is not base64"
    raise PlanNotReadable(message)
