"""What the plugin prints about a generated plan."""

from typing import Any

from ballast.cli.kubectl.explanation import explanation_lines

SUMMARY: dict[str, Any] = {
    "replicaMovesLeast": 4,
    "bytesToMoveLeast": 4096,
    "rackViolations": {"before": 2, "after": 0},
    "copysets": {"before": 3, "after": 6},
    "spread": {
        "replicas": {"before": {"least": 0, "most": 6}, "after": {"least": 4, "most": 4}},
        "bytes": {"before": {"least": 0, "most": 6144}, "after": {"least": 4096, "most": 4096}},
    },
    "busiestBroker": {
        "in": {"brokerId": 4, "bytes": 4096},
        "out": {"brokerId": 1, "bytes": 2048},
    },
    "expectedSeconds": 64,
    "expectedBatches": 3,
}
PLAN: dict[str, Any] = {
    "engine": "Spark",
    "sparkApplicationName": "grow-1",
    "basedOn": {"snapshotDigest": "sha256:s", "time": "2026-01-01T00:00:00Z", "partitions": 8},
    "summary": SUMMARY,
}


def lines(**plan: Any) -> list[str]:
    return explanation_lines({"status": {"plan": plan}})


def test_all_of_it() -> None:
    assert lines(**PLAN) == [
        "made by Spark (grow-1) from a snapshot of 8 partitions, 2026-01-01T00:00:00Z, sha256:s",
        "no plan with the same counts copies less than 4 replicas, 4.0KiB",
        "least to most per broker: replicas 0…6 → 4…4, bytes 0B…6.0KiB → 4.0KiB…4.0KiB",
        "replicas against the rule of racks 2 → 0, sets of brokers that hold a partition 3 → 6",
        "broker 4 gets most (4.0KiB), broker 1 sends most (2.0KiB), at least 1 min 4 s at the "
        "throttle, at least 3 batches",
    ]


def test_what_is_not_known_is_not_told() -> None:
    half = {"spread": {"replicas": {"before": {"least": 1}}}}
    assert lines(engine="InProcess", summary=half) == ["made by InProcess"]
    assert lines(digest="sha256:d") == []
    assert explanation_lines({}) == []


def test_nothing_is_done_to_a_terminal() -> None:
    assert lines(engine="\x1b[2J")[0].startswith("made by ?[2J")
