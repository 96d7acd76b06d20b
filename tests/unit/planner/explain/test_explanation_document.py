import numpy as np

from ballast.model.ids import TopicPartition
from ballast.planner.errors import Infeasible, OptionsRejected
from ballast.planner.explain.explain import explain
from ballast.planner.explain.explanation_document import explanation_document, infeasible_document
from ballast.planner.options import PlanOptions, Strategy
from ballast.planner.plan import plan_targets
from tests.unit.planner.builders import made
from tests.unit.planner.log_dir_builders import one_broker

CLUSTER = made({4: "a", 5: "b"}, {"t": [[4], [4]]}, sizes={"t": [10, 30]})
ROWS = np.array([[0], [1]], np.int32)


def test_what_a_plan_comes_to() -> None:
    assert explanation_document(CLUSTER.brokers, explain(CLUSTER, ROWS)) == {
        "partitions": 1,
        "replicaMoves": 1,
        "replicaMovesLeast": 1,
        "bytesToMove": 30,
        "bytesToMoveLeast": 30,
        "leaderChanges": 1,
        "rackViolations": {"before": 0, "after": 0},
        "copysets": {"before": 1, "after": 2},
        "spread": {
            "replicas": {"before": {"least": 0, "most": 2}, "after": {"least": 1, "most": 1}},
            "leaders": {"before": {"least": 0, "most": 2}, "after": {"least": 1, "most": 1}},
            "bytes": {"before": {"least": 0, "most": 40}, "after": {"least": 10, "most": 30}},
        },
        "mostMovesPerBroker": 1,
        "busiestBroker": {
            "in": {"brokerId": 5, "bytes": 30},
            "out": {"brokerId": 4, "bytes": 30},
        },
    }


def test_why_there_is_no_plan() -> None:
    document = infeasible_document(Infeasible(TopicPartition("t", 3), "has no place", 9))
    assert document["partitions"] == ["t-3"]
    assert document["partitionsTotal"] == 9
    assert document["rule"] == "Replicas"
    assert "t-3: has no place (and 8 other partitions)" in document["message"]
    assert infeasible_document(OptionsRejected("seed", "is wrong"))["rule"] == "seed"


def test_what_changes_its_directory_is_told() -> None:
    cluster = one_broker([10] * 4, [])
    table = plan_targets(cluster, PlanOptions(strategy=Strategy.REBALANCE_LOG_DIRS))
    found = explain(cluster, cluster.replicas, log_dirs=table)
    document = explanation_document(cluster.brokers, found)
    assert (document["logDirMoves"], document["logDirBytes"]) == (2, 20)
    assert document["logDirBytesLeast"] == 20
    assert document["fullestLogDirPercent"] == {"before": 200, "after": 100}
    assert document["busiestBroker"]["within"] == {"brokerId": 1, "bytes": 20}
