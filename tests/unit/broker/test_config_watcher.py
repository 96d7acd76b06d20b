from tests.unit.broker.broker_cluster import P0, Cluster, simulate

RATE = "leader.replication.throttled.rate"
THROTTLED = "leader.replication.throttled.replicas"


def test_what_is_set_while_the_broker_runs_is_followed() -> None:
    async def main(cluster: Cluster) -> None:
        await cluster.start(1)
        await cluster.lead(P0, 1, [1])
        cluster.create_topic_znode(P0.topic)
        parts = cluster.brokers[1].context
        store = await parts.session.wait()
        await store.write_topic_config(P0.topic, {THROTTLED: "0:1"}, -1)
        await store.write_broker_config(1, {RATE: "1000"}, -1)
        await store.write_broker_config(None, {"min.insync.replicas": "2"}, -1)
        throttle = parts.replicas.throttles.leader
        await cluster.until(lambda: throttle.covers(P0))
        await cluster.until(lambda: parts.configs.min_insync_replicas(P0.topic) == 2)
        await cluster.until(lambda: parts.configs.broker_value(RATE) == 1000)
        await store.write_topic_config(P0.topic, {}, 0)
        await cluster.until(lambda: not throttle.covers(P0))

    simulate(main)


def test_configs_are_read_before_a_topics_first_log() -> None:
    async def main(cluster: Cluster) -> None:
        cluster.zookeeper.put("/config/topics/orders", b'{"config":{"max.message.bytes":"99"}}')
        await cluster.start(1)
        await cluster.lead(P0, 1, [1])
        assert cluster.brokers[1].replicas.partitions[P0].log.config.max_message_bytes == 99

    simulate(main)


def test_configs_are_read_at_the_start() -> None:
    async def main(cluster: Cluster) -> None:
        await cluster.start(1)
        await cluster.lead(P0, 1, [1])
        await cluster.stop(1)
        cluster.zookeeper.put("/config/topics/orders", b'{"config":{"max.message.bytes":"99"}}')
        cluster.zookeeper.put("/config/brokers/1", b'{"config":{"min.insync.replicas":"4"}}')
        await cluster.start(1)
        parts = cluster.brokers[1].context
        assert parts.configs.log_config("orders").max_message_bytes == 99
        await cluster.lead(P0, 1, [1])
        assert parts.replicas.partitions[P0].log.config.max_message_bytes == 99
        assert parts.configs.min_insync_replicas("x") == 4

    simulate(main)


def test_hostile_znodes_are_ignored() -> None:
    async def main(cluster: Cluster) -> None:
        cluster.zookeeper.put("/config/topics/orders", b"\xff{[")
        cluster.zookeeper.put("/config/brokers/1", b"[]")
        await cluster.start(1)
        await cluster.lead(P0, 1, [1])
        cluster.zookeeper.put("/config/changes/config_change_0000000000", b"{{")
        assert cluster.brokers[1].replicas.partitions[P0].log.config.max_message_bytes == 1_048_588

    simulate(main)


def test_changes_during_an_outage_are_followed_after_it() -> None:
    async def main(cluster: Cluster) -> None:
        await cluster.start(1)
        await cluster.lead(P0, 1, [1])
        parts = cluster.brokers[1].context
        cluster.zookeeper.kill_session("broker-1")
        await cluster.until(lambda: not parts.identity.is_registered)
        cluster.zookeeper.put("/config/topics/orders", b'{"config":{"max.message.bytes":"99"}}')
        await cluster.until(lambda: parts.identity.is_registered)
        await cluster.until(
            lambda: parts.replicas.partitions[P0].log.config.max_message_bytes == 99
        )

    simulate(main)
