from prometheus_client import generate_latest

from tests.unit.broker.broker_cluster import P0, Cluster, simulate
from tests.unit.broker.group_requests import AT_ONCE, commit, coordinate, stable


def scraped(cluster: Cluster, broker_id: int) -> dict[str, str]:
    """Return what a scrape shows, without the prefix that all names have."""
    text = generate_latest(cluster.brokers[broker_id].context.metrics.registry).decode()
    lines = [line.split(" ") for line in text.splitlines() if not line.startswith("#")]
    return {name.removeprefix("ballast_broker_"): value for name, value in lines}


def test_gauges_are_read_when_they_are_scraped() -> None:
    async def main(cluster: Cluster) -> None:
        await cluster.start(1)
        await cluster.lead(P0, 1, [1, 2], isr=[1])
        lines = generate_latest(cluster.brokers[1].context.metrics.registry).decode().splitlines()
        for line in (
            "ballast_broker_leader_count 1.0",
            "ballast_broker_partition_count 1.0",
            "ballast_broker_under_replicated_partitions 1.0",
            "ballast_broker_under_min_isr_partitions 1.0",
            "ballast_broker_offline_log_directories 0.0",
            "ballast_broker_missing_replicas 0.0",
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


def test_groups_are_counted_by_their_states() -> None:
    async def main(cluster: Cluster) -> None:
        await coordinate(cluster, 1)
        assert scraped(cluster, 1)["num_groups"] == "0.0"
        assert await commit(cluster, 1, 7) == 0
        shown = scraped(cluster, 1)
        assert (shown["num_groups"], shown["num_groups_empty"]) == ("1.0", "1.0")
        assert shown["num_offsets"] == "1.0"
        assert shown["heartbeat_purgatory_size"] == "0.0"
        await stable(cluster)
        shown = scraped(cluster, 1)
        assert (shown["num_groups"], shown["num_groups_stable"]) == ("1.0", "1.0")
        assert shown["heartbeat_purgatory_size"] == "1.0"
        for name in ("empty", "preparing_rebalance", "completing_rebalance", "dead"):
            assert shown[f"num_groups_{name}"] == "0.0"
        assert shown["rebalance_purgatory_size"] == "0.0"

    simulate(main, **AT_ONCE)
