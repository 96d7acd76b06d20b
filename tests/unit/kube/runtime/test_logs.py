"""Log lines name the object that they are about."""

import asyncio
import json
import logging

from ballast.kube.api.resources import ObjectKey
from ballast.kube.runtime.logs import ObjectFields, about
from ballast.net.logs import JsonFormatter

KEY = ObjectKey("brokersets", "a", "one")


def line(**extra: object) -> dict[str, object]:
    record = logging.LogRecord("ballast.x", logging.INFO, "f.py", 1, "hello", (), None)
    vars(record).update(extra)
    assert ObjectFields().filter(record)
    found: dict[str, object] = json.loads(JsonFormatter().format(record))
    for name in ("ts", "level", "logger", "message"):
        del found[name]
    return found


def test_within_and_outside() -> None:
    epochs = iter([None, 7])
    with about(KEY, "u1", lambda: next(epochs)):
        assert line() == {"namespace": "a", "name": "one", "kind": "BrokerSet", "uid": "u1"}
        assert line()["controllerEpoch"] == 7
        with about(ObjectKey("partitionreassignments", "a", "move")):
            assert line() == {"namespace": "a", "name": "move", "kind": "PartitionReassignment"}
    assert line() == {}


async def test_tasks_inherit_the_object() -> None:
    async def told() -> dict[str, object]:
        return line()

    async with asyncio.TaskGroup() as tasks:
        with about(KEY):
            task = tasks.create_task(told())
    assert task.result()["name"] == "one"


def test_kopfs_way_becomes_ours() -> None:
    reference = {"namespace": "a", "name": "move", "kind": "PartitionReassignment", "uid": "u2",
                 "apiVersion": "ballast.dev/v1alpha1"}  # fmt: skip
    assert line(k8s_ref=reference, settings=object(), k8s_skip=True, other=1) == {
        "namespace": "a",
        "name": "move",
        "kind": "PartitionReassignment",
        "uid": "u2",
        "other": 1,
    }
