"""The names of an attempt's objects: Kubernetes takes them, and no two attempts share one."""

import re

import pytest

from ballast.reassign.generate.generation_names import plan_name, plan_object, snapshot_object

DNS_1035 = re.compile(r"[a-z]([-a-z0-9]{0,61}[a-z0-9])?")


@pytest.mark.parametrize("name", ["grow", "9-lives", "a.b.c", "x" * 253, "a" * 29 + ".-b", "7"])
def test_they_are_names_of_services_too(name: str) -> None:
    plan = plan_name(name, "uid-1", 12)
    assert DNS_1035.fullmatch(plan)
    assert len(plan_object(plan, 9999)) <= 63
    assert len(snapshot_object(plan, 9999)) <= 63


def test_who_comes_after_under_the_same_name_has_others() -> None:
    names = {plan_name("grow", uid, attempt) for uid in ("1", "2") for attempt in (1, 2)}
    assert len(names) == 4
    assert plan_name("a.b", "1", 1) != plan_name("a-b", "1", 1)


def test_chunks_come_in_their_order() -> None:
    names = [snapshot_object("p", number) for number in range(120)]
    assert sorted(names) == names
    assert plan_object("p") < plan_object("p", 0) < plan_object("p", 10)
