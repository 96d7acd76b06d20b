from ballast.broker.replicas.log_dir_events import LogDirEvents
from ballast.znodes import log_dir_events
from tests.unit.broker.broker_cluster import Cluster, simulate


def written(cluster: Cluster) -> list[int]:
    children = cluster.zookeeper.children_of(log_dir_events.PATH)
    found = []
    for name in children:
        data = cluster.zookeeper.data(log_dir_events.path(name))
        assert data is not None
        found.append(log_dir_events.decode(name, data))
    return found


def test_the_controller_is_told() -> None:
    async def main(cluster: Cluster) -> None:
        await cluster.start(1)
        replicas = cluster.brokers[1].replicas
        replicas.log_dir_events.notify()
        replicas.log_dir_events.notify()
        await cluster.until(lambda: written(cluster) == [1])
        replicas.log_dir_events.notify()
        await cluster.until(lambda: written(cluster) == [1, 1])

    simulate(main)


def test_it_waits_for_a_session_and_goes_on_until_it_is_told() -> None:
    async def main(cluster: Cluster) -> None:
        await cluster.start(1)
        cluster.zookeeper.kill_session("broker-1")
        events = cluster.brokers[1].replicas.log_dir_events
        assert isinstance(events, LogDirEvents)
        events.notify()
        await cluster.until(lambda: written(cluster) == [1], 100)

    simulate(main)
