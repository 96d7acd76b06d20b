from ballast.planner.explain.explain import explain
from ballast.planner.explain.explain_blocks import merge_explanations
from ballast.planner.explain.explanation_document import explanation_document
from ballast.planner.options import PlanOptions, Strategy
from ballast.planner.plan import plan_targets
from ballast.planner.snapshot.blocks import extract_block
from tests.unit.planner.builders import level_cluster


def test_blocks_come_to_what_the_whole_comes_to() -> None:
    cluster = level_cluster(300, 9, 3, skew=True)
    rows = plan_targets(cluster, PlanOptions(strategy=Strategy.REBALANCE))
    blocks = [
        explain(
            extract_block(cluster, first, first + 2),
            rows[cluster.topic_starts[first] : cluster.topic_starts[first + 2]],
        )
        for first in (0, 2, 4)
    ]
    whole = explain(cluster, rows)
    expected = explanation_document(cluster.brokers, whole)
    found = merge_explanations(blocks)
    assert explanation_document(cluster.brokers, found) == expected
    assert found.flows.matrix is not None
    assert whole.flows.matrix is not None
    assert found.flows.matrix.tolist() == whole.flows.matrix.tolist()
