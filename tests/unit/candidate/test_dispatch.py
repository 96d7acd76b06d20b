"""The table of what a candidate serves."""

import inspect

from ballast.candidate.dispatch import CANDIDATE_APIS, SERVED


def test_controller_bound_requests_and_api_versions() -> None:
    assert sorted(SERVED) == [7, 18, 19, 20, 37, 43, 45, 46]


def test_each_api_is_a_module_of_its_own() -> None:
    for key, api in CANDIDATE_APIS.items():
        name = f"ballast.candidate.apis.{key.name.lower()}"
        assert (api.answer.__module__, api.refuse.__module__) == (name, name)
        assert inspect.iscoroutinefunction(api.answer)
