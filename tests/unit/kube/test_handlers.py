"""Our handlers, called by kopf itself."""

from ballast.kube.handlers import WritesNoDiffBase, WritesNoProgress, make_settings
from ballast.kube.reconcilers import CLEANUP_FINALIZER, OLD_FINALIZER
from tests.unit.kube.kopf_house import MOVE, SET, House, tended


def make_both(house: House) -> None:
    house.put(MOVE)
    house.put(SET)


async def test_each_object_is_tended_and_nothing_is_written_on_it() -> None:
    async with tended(make_both) as house:
        await house.until(lambda: {("begun", "move"), ("begun", "one")} <= set(house.seen))
    assert {("left", "move"), ("left", "one")} <= set(house.seen)
    assert house.requests("PATCH") == []


async def test_the_finalizer_of_earlier_versions_goes() -> None:
    # The emulator does not test the resourceVersion of a patch, so that two of them may come.
    async with tended(lambda house: house.put(SET, finalizers=[OLD_FINALIZER])) as house:
        await house.until(lambda: not house.finalizers(SET))


async def test_an_object_that_nothing_guards_is_gone_at_once() -> None:
    async with tended(lambda house: house.put(SET)) as house:
        await house.until(lambda: ("begun", "one") in house.seen)
        await house.delete(SET)
        assert house.is_gone(SET)
        await house.until(lambda: ("left", "one") in house.seen)


async def test_a_change_wakes_the_tender() -> None:
    async with tended(lambda house: house.put(MOVE)) as house:
        await house.until(lambda: ("begun", "move") in house.seen)
        await house.change(MOVE, {"metadata": {"generation": 2}, "spec": {"x": "y"}})
        await house.until(lambda: ("woken", "move") in house.seen)


async def test_a_deleted_object_is_cleaned_up_and_let_go() -> None:
    async with tended(lambda house: house.put(MOVE, finalizers=[CLEANUP_FINALIZER])) as house:
        await house.until(lambda: ("begun", "move") in house.seen)
        await house.delete(MOVE)
        await house.until(lambda: house.is_gone(MOVE) and ("left", "move") in house.seen)


async def test_an_object_that_was_being_deleted_already_is_cleaned_up() -> None:
    def make(house: House) -> None:
        going = {"deletionTimestamp": "2026-01-01T00:00:00Z", "finalizers": [CLEANUP_FINALIZER]}
        house.put(MOVE, **going)

    async with tended(make) as house:
        await house.until(lambda: house.is_gone(MOVE) and len(house.seen) > 1)
        assert house.seen[:2] == [("begun", "move"), ("left", "move")]


def test_settings() -> None:
    settings = make_settings()
    assert settings.persistence.finalizer == OLD_FINALIZER
    assert isinstance(settings.persistence.progress_storage, WritesNoProgress)
    assert isinstance(settings.persistence.diffbase_storage, WritesNoDiffBase)
    assert settings.peering.standalone
    assert settings.scanning.disabled
    assert not settings.posting.enabled
