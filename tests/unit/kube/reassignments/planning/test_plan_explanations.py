"""The explanation of a plan, and how input that cannot be trusted is read."""

import json

import numpy as np

from ballast.kube.reassignments.planning.plan_explanations import (
    expected_batches,
    expected_seconds,
    infeasible_words,
    read_explanation,
)
from ballast.model.ids import TopicPartition
from ballast.planner.errors import Infeasible, OptionsRejected
from ballast.planner.explain.explain import explain
from ballast.planner.explain.explanation_document import explanation_document, infeasible_document
from ballast.planner.snapshot.lines import read_snapshot

SNAPSHOT = b"""{"format":"ballast-snapshot/v1","brokers":[{"id":1},{"id":2},{"id":7}]}
{"topic":"t","replicas":[[1,2],[1,2]],"bytes":[100,300],"leaders":[1,2]}
"""


def test_what_the_planner_tells_is_read_whole() -> None:
    columns = read_snapshot([SNAPSHOT])
    targets = np.array([[0, 2], [0, 1]], np.int32)
    document = explanation_document(columns.brokers, explain(columns, targets))
    assert document["copysets"] == {"before": 1, "after": 2}
    assert read_explanation(json.dumps(document)) == document


def test_what_is_no_number_is_left_out() -> None:
    document = {
        "partitions": 3,
        "replicaMoves": "many",
        "bytesToMove": -1,
        "leaderChanges": True,
        "copysets": {"before": 1.5, "after": 2, "then": 3},
        "spread": {"replicas": {"before": {"least": 1}, "after": None}, "colour": {}},
        "busiestBroker": {"in": {"brokerId": 2**60, "bytes": 5}},
        "script": "<b>",
    }
    assert read_explanation(json.dumps(document)) == {
        "partitions": 3,
        "copysets": {"after": 2},
        "busiestBroker": {"in": {"bytes": 5}},
    }
    for text in ("", "[]", "{", "[" * 100_000):
        assert read_explanation(text) == {}


def test_the_busiest_broker_says_how_long_it_takes() -> None:
    summary = {"busiestBroker": {"in": {"bytes": 1000}, "out": {"bytes": 2001}}}
    assert expected_seconds(summary, 1000) == 3
    assert expected_seconds(summary, None) is None
    assert expected_seconds({}, 1000) is None


def test_the_broker_with_most_moves_says_how_many_batches_there_are() -> None:
    assert expected_batches({"mostMovesPerBroker": 11}, 5) == 3
    assert expected_batches({}, 5) is None


def test_why_there_is_no_plan() -> None:
    error = Infeasible(TopicPartition("t", 4), "needs 5 brokers, 4 are there", 9)
    words = infeasible_words(json.dumps(infeasible_document(error)))
    assert words.startswith("t-4: needs 5 brokers, 4 are there (and 8 other partitions); rule ")
    assert words.endswith("bring more brokers into service, or ask for fewer replicas")
    unknown = OptionsRejected("brokerIds", "broker 9 is not in the snapshot")
    words = infeasible_words(json.dumps(infeasible_document(unknown)))
    assert words.startswith("brokerIds: broker 9 is not in the snapshot; rule brokerIds; ")


def test_words_of_others_are_taken_as_words() -> None:
    assert infeasible_words("nonsense") == "no assignment does what is asked"
    words = infeasible_words(json.dumps({"message": "m" * 9999, "partitions": ["a-1"], "rule": 3}))
    assert len(words) < 600
    assert words.endswith("; such as a-1")
