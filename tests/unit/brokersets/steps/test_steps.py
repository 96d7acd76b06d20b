from ballast.brokersets.steps.steps import Apply, PatchGate


def test_an_object_is_named_by_its_document() -> None:
    step = Apply(document={"kind": "Service", "metadata": {"name": "prod-brokers"}})
    assert (step.kind, step.name) == ("Service", "prod-brokers")


def test_a_gate_as_the_pods_condition() -> None:
    step = PatchGate(pod="p", uid="u", value=True, reason="InSync", message="m")
    assert step.to_document("2026-01-01T00:00:00Z") == {
        "type": "ballast.dev/in-sync",
        "status": "True",
        "reason": "InSync",
        "message": "m",
        "lastTransitionTime": "2026-01-01T00:00:00Z",
    }
    assert (
        PatchGate(pod="p", uid="u", value=False, reason="R", message="").to_document("")["status"]
        == "False"
    )
