from ballast.kube.api.cluster_address import ClusterAddress
from ballast.kube.api.resources import CONFIG_MAPS
from ballast.kube.reassignments.session import ReassignmentSession
from tests.unit.kube.reassignment_cluster import Environment

HERE = ClusterAddress(bootstrap="a:1", epoch=1, is_deleted=False)
ELSEWHERE = ClusterAddress(bootstrap="b:2", epoch=1, is_deleted=False)


def opened() -> tuple[Environment, ReassignmentSession]:
    env = Environment()
    env.put()
    return env, ReassignmentSession(env.context())


async def test_one_reconciler_serves_until_it_is_forgotten_or_the_cluster_is_another() -> None:
    env, session = opened()
    reassignment = env.reassignment()
    first = await session.reconciler(reassignment, HERE)
    assert await session.reconciler(reassignment, HERE) is first
    session.forget()
    second = await session.reconciler(reassignment, HERE)
    assert second is not first
    assert env.bootstraps == ["a:1"], "the connections are kept"
    assert await session.reconciler(reassignment, ELSEWHERE) is not second
    assert env.bootstraps == ["a:1", "b:2"]
    assert env.admin.closed == 1
    await session.close()
    await session.close()
    assert env.admin.closed == 2


async def test_discarded_state_is_gone_here_and_where_it_was_stored() -> None:
    env, session = opened()
    await env.reconcile(env.loop(), 2)
    reassignment = env.reassignment()
    reconciler = await session.reconciler(reassignment, HERE)
    assert await reconciler.load_state() is not None
    assert [stored.name for stored in session.state_objects] == ["move-state"]
    await session.discard_state()
    assert session.state_objects == ()
    assert env.api.all(CONFIG_MAPS) == []
    assert await (await session.reconciler(reassignment, HERE)).load_state() is None
