from ballast.kube.broker_sets.failed_steps import with_refusals

PROGRESSING = {
    "type": "Progressing",
    "status": "False",
    "reason": "Stable",
    "message": "",
    "observedGeneration": 1,
    "lastTransitionTime": "2026-01-01T00:00:00Z",
}
READY = {**PROGRESSING, "type": "Ready", "status": "True", "reason": "Ready"}
STATUS = {"summary": "3/3", "conditions": [READY, {**PROGRESSING, "status": "True"}]}


def test_without_refusals_the_status_is_as_it_was() -> None:
    assert with_refusals(STATUS, [], before={}, generation=1, now_ms=0) is STATUS


def test_refusals_are_told_in_progressing() -> None:
    refusals = [f"Service {number}: forbidden" for number in range(5)]
    before = {"conditions": [PROGRESSING]}
    status = with_refusals(STATUS, refusals, before=before, generation=2, now_ms=0)
    conditions = {condition["type"]: condition for condition in status["conditions"]}
    assert status["summary"] == "3/3"
    assert conditions["Ready"]["status"] == "True"
    assert conditions["Progressing"] == {
        **PROGRESSING,
        "reason": "StepRefused",
        "message": "Service 0: forbidden; Service 1: forbidden; Service 2: forbidden (and 2 more)",
        "observedGeneration": 2,
    }
