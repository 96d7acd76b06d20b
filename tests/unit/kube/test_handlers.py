"""Our handlers, called by kopf itself."""

from ballast.kube.api.reassignment_object import CLEANUP_FINALIZER
from ballast.kube.handlers import WritesNoDiffBase, WritesNoProgress, make_settings
from ballast.kube.reconcilers import OLD_FINALIZER
from tests.unit.kube.kopf_operator import MOVE, SET, Environment, leading


def make_both(env: Environment) -> None:
    env.put(MOVE)
    env.put(SET)


async def test_each_object_is_reconciled_and_nothing_is_written_on_it() -> None:
    async with leading(make_both) as env:
        await env.until(lambda: {("begun", "move"), ("begun", "one")} <= set(env.seen))
    assert {("left", "move"), ("left", "one")} <= set(env.seen)
    assert env.requests("PATCH") == []


async def test_the_finalizer_of_earlier_versions_goes() -> None:
    # The emulator does not test the resourceVersion of a patch, so that two of them may come.
    async with leading(lambda env: env.put(SET, finalizers=[OLD_FINALIZER])) as env:
        await env.until(lambda: not env.finalizers(SET))


async def test_an_object_that_nothing_guards_is_gone_at_once() -> None:
    async with leading(lambda env: env.put(SET)) as env:
        await env.until(lambda: ("begun", "one") in env.seen)
        await env.delete(SET)
        assert env.is_gone(SET)
        await env.until(lambda: ("left", "one") in env.seen)


async def test_a_change_wakes_the_reconciler() -> None:
    async with leading(lambda env: env.put(MOVE)) as env:
        await env.until(lambda: ("begun", "move") in env.seen)
        await env.change(MOVE, {"metadata": {"generation": 2}, "spec": {"x": "y"}})
        await env.until(lambda: ("woken", "move") in env.seen)


async def test_a_deleted_object_is_cleaned_up_and_let_go() -> None:
    async with leading(lambda env: env.put(MOVE, finalizers=[CLEANUP_FINALIZER])) as env:
        await env.until(lambda: ("begun", "move") in env.seen)
        await env.delete(MOVE)
        await env.until(lambda: env.is_gone(MOVE) and ("left", "move") in env.seen)


async def test_an_object_that_was_being_deleted_already_is_cleaned_up() -> None:
    def make(env: Environment) -> None:
        going = {"deletionTimestamp": "2026-01-01T00:00:00Z", "finalizers": [CLEANUP_FINALIZER]}
        env.put(MOVE, **going)

    async with leading(make) as env:
        await env.until(lambda: env.is_gone(MOVE) and len(env.seen) > 1)
        assert env.seen[:2] == [("begun", "move"), ("left", "move")]


def test_settings() -> None:
    settings = make_settings()
    assert settings.persistence.finalizer == OLD_FINALIZER
    assert isinstance(settings.persistence.progress_storage, WritesNoProgress)
    assert isinstance(settings.persistence.diffbase_storage, WritesNoDiffBase)
    assert settings.peering.standalone
    assert settings.scanning.disabled
    assert not settings.posting.enabled
