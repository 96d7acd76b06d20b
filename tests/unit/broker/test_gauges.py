from prometheus_client import generate_latest

from tests.unit.broker.cluster import P0, Cluster, simulate


def test_gauges_are_read_when_they_are_scraped() -> None:
    async def main(cluster: Cluster) -> None:
        await cluster.start(1)
        await cluster.lead(P0, 1, [1, 2], isr=[1])
        lines = generate_latest(cluster.brokers[1].parts.metrics.registry).decode().splitlines()
        for line in (
            "ballast_broker_leader_count 1.0",
            "ballast_broker_partition_count 1.0",
            "ballast_broker_under_replicated_partitions 1.0",
            "ballast_broker_under_min_isr_partitions 1.0",
            "ballast_broker_offline_log_directories 0.0",
            "ballast_broker_uncleanable_logs 0.0",
            "ballast_broker_replica_max_lag 0.0",
            "ballast_broker_registered 1.0",
            "ballast_broker_log_segments 1.0",
            "ballast_broker_produce_purgatory_watched 0.0",
            "ballast_broker_delete_records_purgatory_size 0.0",
            "ballast_broker_requests_failed 0.0",
        ):
            assert line in lines

    simulate(main, min_insync_replicas="2")
