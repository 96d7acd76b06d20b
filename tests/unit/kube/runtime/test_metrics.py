"""What is shown to Prometheus."""

from importlib.metadata import version

from prometheus_client import CollectorRegistry
from prometheus_client.exposition import generate_latest

from ballast.kube.api.resources import ObjectKey
from ballast.kube.runtime.metrics import MAX_OBJECTS, OperatorMetrics, registry_of

MOVE = ObjectKey("partitionreassignments", "a", "move")
SET = ObjectKey("brokersets", "a", "one")
FAILED = {"conditions": [{"type": "Succeeded", "status": "False", "reason": "Failed"}]}


ALWAYS = ("#", "ballast_reassignments_ended", "ballast_plans_failed")
"""What is shown whatever was seen."""


def everything(metrics: OperatorMetrics) -> list[str]:
    registry = CollectorRegistry()
    registry.register(metrics)
    return generate_latest(registry).decode().splitlines()


def shown(metrics: OperatorMetrics) -> list[str]:
    return [line for line in everything(metrics) if not line.startswith(ALWAYS)]


def test_nothing_was_seen() -> None:
    assert shown(OperatorMetrics()) == []


def test_the_first_end_and_the_first_failed_plan_are_an_increase() -> None:
    metrics = OperatorMetrics()
    before = everything(metrics)
    assert 'ballast_reassignments_ended_total{state="Failed"} 0.0' in before
    assert 'ballast_plans_failed_total{engine="Spark"} 0.0' in before
    metrics.count_end_between(MOVE, {}, FAILED)
    metrics.count_plan("Spark", "ImagePull", 1.0)
    metrics.count_plan("Spark", "ok", 1.0)
    metrics.count_plan("", "LoadHistoryMissing", 1.0)
    after = everything(metrics)
    assert 'ballast_reassignments_ended_total{state="Failed"} 1.0' in after
    assert 'ballast_plans_failed_total{engine="Spark"} 1.0' in after
    assert 'ballast_plans_failed_total{engine="Unknown"} 1.0' in after


def test_conditions_of_a_broker_set() -> None:
    metrics = OperatorMetrics()
    conditions = [
        {"type": "Ready", "status": "True", "reason": "AllInSync"},
        {"type": "ScaleDownBlocked", "status": "False", "reason": "NotBlocked"},
        {"type": "InSync", "status": "Unknown", "reason": "ClusterUnknown"},
    ]
    metrics.record_status(SET, {"conditions": conditions})
    found = [line for line in shown(metrics) if line.startswith("ballast_broker_set_condition")]
    labels = 'name="one",namespace="a"'
    assert found == [
        f'ballast_broker_set_condition{{{labels},type="Ready"}} 1.0',
        f'ballast_broker_set_condition{{{labels},type="ScaleDownBlocked"}} 0.0',
    ]


def test_a_reassignment() -> None:
    metrics = OperatorMetrics()
    metrics.record_status(
        MOVE,
        {
            "conditions": [{"type": "Succeeded", "status": "Unknown", "reason": "Executing"}],
            "progress": {
                "partitions": {"pending": 3, "completed": 1},
                "bytesMoved": 100,
                "bytesRemaining": 300,
            },
            "throttle": {"appliedBytesPerSecond": 50, "brokerIds": [1, 2]},
        },
    )
    labels = 'name="move",namespace="a"'
    assert shown(metrics) == [
        'ballast_resources{kind="PartitionReassignment",state="Executing"} 1.0',
        f'ballast_reassignment_partitions{{{labels},state="pending"}} 3.0',
        f'ballast_reassignment_partitions{{{labels},state="completed"}} 1.0',
        f"ballast_reassignment_bytes_remaining{{{labels}}} 300.0",
        f"ballast_reassignment_bytes_moved_total{{{labels}}} 100.0",
        f'ballast_throttle_bytes_per_second{{broker="1",{labels}}} 50.0',
        f'ballast_throttle_bytes_per_second{{broker="2",{labels}}} 50.0',
    ]
    metrics.record_status(MOVE, {"throttle": {"restored": True, "brokerIds": [1]}})
    assert shown(metrics) == ['ballast_resources{kind="PartitionReassignment",state="Unknown"} 1.0']
    metrics.forget(MOVE)
    metrics.forget(MOVE)
    assert shown(metrics) == []


def test_a_broker_set() -> None:
    metrics = OperatorMetrics()
    metrics.record_status(
        SET,
        {
            "conditions": [{"type": "Ready", "status": "True", "reason": "AllInSync"}],
            "partitions": {"total": 9, "leaderless": 0, "underReplicated": 2, "underMinISR": 1},
            "brokers": [{"id": 4, "state": "Online"}],
        },
    )
    labels = 'name="one",namespace="a"'
    assert shown(metrics) == [
        'ballast_resources{kind="BrokerSet",state="AllInSync"} 1.0',
        f"ballast_partitions_underreplicated{{{labels}}} 2.0",
        f"ballast_partitions_under_min_isr{{{labels}}} 1.0",
        f"ballast_partitions_offline{{{labels}}} 0.0",
        f'ballast_broker_state{{broker="4",{labels},state="Online"}} 1.0',
        f'ballast_broker_set_condition{{{labels},type="Ready"}} 1.0',
    ]


def test_looks_are_counted_and_timed() -> None:
    metrics = OperatorMetrics()
    for seconds in (0.01, 0.2, 0.7, 100.0):
        metrics.count_reconciliation("BrokerSet", "ok", seconds)
    metrics.count_reconciliation("BrokerSet", "error", 0.05)
    lines = shown(metrics)
    name = "ballast_reconciliation_duration_seconds"
    assert lines[:2] == [
        'ballast_reconciliations_total{kind="BrokerSet",result="error"} 1.0',
        'ballast_reconciliations_total{kind="BrokerSet",result="ok"} 4.0',
    ]
    assert f'{name}_bucket{{kind="BrokerSet",le="0.01"}} 1.0' in lines
    assert f'{name}_bucket{{kind="BrokerSet",le="1.0"}} 4.0' in lines
    assert f'{name}_bucket{{kind="BrokerSet",le="+Inf"}} 5.0' in lines
    assert f'{name}_count{{kind="BrokerSet"}} 5.0' in lines
    assert f'{name}_sum{{kind="BrokerSet"}} 100.96' in lines


def test_series_are_bounded() -> None:
    metrics = OperatorMetrics()
    for number in range(MAX_OBJECTS + 50):
        key = ObjectKey("partitionreassignments", "a", f"m{number}")
        metrics.record_status(key, {"progress": {"bytesMoved": 1}})
    lines = shown(metrics)
    assert len(lines) == MAX_OBJECTS + 1
    assert lines[0].endswith(f" {MAX_OBJECTS + 50}.0")


def test_the_whole_process() -> None:
    metrics = OperatorMetrics()
    metrics.count_reconciliation("BrokerSet", "ok", 0.01)
    lines = generate_latest(registry_of(metrics)).decode().splitlines()
    assert f'ballast_build_info{{version="{version("ballast")}"}} 1.0' in lines
    assert any(line.startswith("process_resident_memory_bytes ") for line in lines)
    assert 'ballast_reconciliations_total{kind="BrokerSet",result="ok"} 1.0' in lines


def test_plans() -> None:
    metrics = OperatorMetrics()
    metrics.count_plan("InProcess", "ok", 0.5)
    metrics.count_plan("InProcess", "ok", 20.0)
    metrics.count_plan("Spark", "ImagePull", 5000.0)
    name = "ballast_plan_generation_duration_seconds"
    lines = [line for line in shown(metrics) if line.startswith(name)]
    assert f'{name}_bucket{{engine="InProcess",le="1.0",result="ok"}} 1.0' in lines
    assert f'{name}_bucket{{engine="InProcess",le="30.0",result="ok"}} 2.0' in lines
    assert f'{name}_sum{{engine="InProcess",result="ok"}} 20.5' in lines
    assert f'{name}_bucket{{engine="Spark",le="3600.0",result="ImagePull"}} 0.0' in lines
    assert f'{name}_count{{engine="Spark",result="ImagePull"}} 1.0' in lines
