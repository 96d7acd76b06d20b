"""The gauges of a broker: values that are read from its components at each scrape."""

from functools import partial

from ballast.broker.apis.context import BrokerContext
from ballast.coordinator.states import GroupState
from ballast.net.server.server import Server

_GROUP_GAUGES = {
    GroupState.PREPARING_REBALANCE: "preparing_rebalance",
    GroupState.COMPLETING_REBALANCE: "completing_rebalance",
    GroupState.STABLE: "stable",
    GroupState.DEAD: "dead",
    GroupState.EMPTY: "empty",
}


def add_gauges(context: BrokerContext, server: Server) -> None:
    """Add every gauge to the broker's metrics."""
    replicas, gauge = context.replicas, context.metrics.gauge
    gauge(
        "leader_count",
        "Partitions led here.",
        lambda: sum(1 for _ in replicas.leading()),
    )
    gauge("partition_count", "Replicas here.", lambda: len(replicas.partitions))
    gauge(
        "under_replicated_partitions",
        "Partitions led here with fewer in-sync replicas than replicas.",
        lambda: sum(1 for p in replicas.leading() if p.view and p.view.is_under_replicated),
    )
    gauge(
        "under_min_isr_partitions",
        "Partitions led here that refuse acks=all.",
        lambda: sum(
            1
            for p in replicas.leading()
            if p.view
            and p.view.is_under_min_isr(replicas.configs.min_insync_replicas(p.name.topic))
        ),
    )
    gauge(
        "at_min_isr_partitions",
        "Partitions led here that would refuse acks=all with one in-sync replica less.",
        lambda: sum(
            1
            for p in replicas.leading()
            if p.view and len(p.view.isr) == replicas.configs.min_insync_replicas(p.name.topic)
        ),
    )
    gauge(
        "offline_replicas",
        "Replicas that went offline with their log directories.",
        lambda: replicas.offline_count,
    )
    gauge(
        "loop_lag_seconds",
        "Largest lag of the event loop in the last minute.",
        lambda: context.loop_lag.seconds,
    )
    gauge(
        "offline_log_directories",
        "Log directories that have failed.",
        lambda: len(replicas.log_dirs.offline_directories),
    )
    gauge(
        "missing_replicas",
        "Replicas in an ISR that were lost with their disk: they take no role.",
        lambda: len(replicas.missing),
    )
    gauge(
        "damaged_logs",
        "Damaged logs: they are copied from an in-sync replica where there is one.",
        lambda: len(replicas.damaged),
    )
    _add_replication_gauges(context)
    _add_log_gauges(context)
    _add_purgatory_gauges(context)
    _add_group_gauges(context)
    _add_server_gauges(context, server)


def _add_replication_gauges(context: BrokerContext) -> None:
    replicas, gauge = context.replicas, context.metrics.gauge
    gauge(
        "replica_max_lag",
        "Offsets that the slowest follower here lags behind its leader.",
        context.fetchers.max_lag,
    )
    gauge(
        "leader_throttled_bytes_per_second",
        "Rate of throttled replicas read here.",
        lambda: replicas.throttles.leader.rate(replicas.clock()),
    )
    gauge(
        "follower_throttled_bytes_per_second",
        "Rate of throttled replicas fetched here.",
        lambda: replicas.throttles.follower.rate(replicas.clock()),
    )
    gauge(
        "leader_throttle_limit_bytes_per_second",
        "Limit that is set for throttled replicas read here; 0 without one.",
        lambda: replicas.throttles.leader.limit or 0,
    )
    gauge(
        "follower_throttle_limit_bytes_per_second",
        "Limit that is set for throttled replicas fetched here; 0 without one.",
        lambda: replicas.throttles.follower.limit or 0,
    )
    gauge(
        "throttled_topics",
        "Topics with a list of throttled replicas.",
        lambda: len(replicas.throttles.topics),
    )


def _add_log_gauges(context: BrokerContext) -> None:
    replicas, gauge = context.replicas, context.metrics.gauge
    gauge(
        "producer_ids",
        "Idempotent producers with state in the logs.",
        lambda: sum(len(log.producers) for log in replicas.log_dirs.logs.values()),
    )
    gauge(
        "log_cleaner_max_dirty_ratio",
        "Largest dirty ratio of a compacted log at the last check.",
        lambda: context.log_cleaner.max_dirty_ratio,
    )
    gauge(
        "log_cleaner_idle_seconds",
        "Time since the cleaner last checked all logs.",
        lambda: context.log_cleaner.idle_s,
    )
    gauge(
        "uncleanable_logs",
        "Logs that are not compacted, because a batch cannot be decoded.",
        lambda: context.log_cleaner.uncleanable_count,
    )
    gauge(
        "log_segments",
        "Segments of all logs here.",
        lambda: sum(log.segment_count for log in replicas.log_dirs.logs.values()),
    )


def _add_purgatory_gauges(context: BrokerContext) -> None:
    purgatories, gauge = context.replicas.purgatories, context.metrics.gauge
    gauge(
        "produce_purgatory_size",
        "Produce requests that wait for replicas.",
        lambda: purgatories.produce.delayed_count,
    )
    gauge(
        "fetch_purgatory_size",
        "Fetches that wait for records.",
        lambda: purgatories.fetch.delayed_count,
    )
    gauge(
        "delete_records_purgatory_size",
        "Deletions of records that wait for replicas.",
        lambda: purgatories.deletions.delayed_count,
    )
    gauge(
        "produce_purgatory_watched",
        "Entries in the watch lists of produce requests (Kafka's PurgatorySize).",
        lambda: purgatories.produce.watched_count,
    )
    gauge(
        "fetch_purgatory_watched",
        "Entries in the watch lists of fetches (Kafka's PurgatorySize).",
        lambda: purgatories.fetch.watched_count,
    )
    gauge(
        "requests_waiting",
        "Requests of all clients that wait for records or replicas.",
        lambda: context.waits.shares.total,
    )
    gauge(
        "waits_refused",
        "Requests answered at once because their connection exceeded its share of waits.",
        lambda: context.waits.refused,
    )
    gauge(
        "fetch_sessions",
        "Fetch sessions that are kept (Kafka's NumIncrementalFetchSessions).",
        lambda: len(purgatories.sessions),
    )
    gauge(
        "fetch_session_partitions",
        "Partitions of these (Kafka's NumIncrementalFetchPartitionsCached).",
        lambda: purgatories.sessions.partition_count,
    )
    gauge(
        "fetch_session_evictions",
        "Fetch sessions that were evicted for others since the start.",
        lambda: purgatories.sessions.evictions,
    )


def _add_group_gauges(context: BrokerContext) -> None:
    """Add the metrics of Kafka's ``GroupMetadataManager``, and the sizes of its purgatories."""
    coordinator, purgatories, gauge = (
        context.groups.coordinator,
        context.groups.purgatories,
        context.metrics.gauge,
    )

    def count(state: GroupState) -> int:
        return sum(group.state is state for group in coordinator.groups)

    gauge("num_groups", "Groups coordinated here.", lambda: len(coordinator.groups))
    for state, name in _GROUP_GAUGES.items():
        gauge(
            f"num_groups_{name}",
            f"Groups coordinated here that are {state.value}.",
            partial(count, state),
        )
    gauge(
        "num_offsets",
        "Offsets of the groups coordinated here.",
        lambda: sum(len(group.offsets.committed) for group in coordinator.groups),
    )
    gauge(
        "rebalance_purgatory_size",
        "Groups that wait for members to join.",
        lambda: purgatories.joins.delayed_count,
    )
    gauge(
        "heartbeat_purgatory_size",
        "Members of groups whose heartbeats are expected.",
        lambda: purgatories.heartbeats.delayed_count,
    )


def _add_server_gauges(context: BrokerContext, server: Server) -> None:
    gauge, counters = context.metrics.gauge, server.counters
    gauge("connections_accepted", "Connections accepted.", lambda: counters.accepted)
    gauge("connections_refused", "Connections over a limit.", lambda: counters.refused)
    gauge(
        "connections_timed_out",
        "Connections closed because they were idle or stalled.",
        lambda: counters.timed_out,
    )
    gauge("requests", "Requests read.", lambda: counters.requests)
    gauge("requests_malformed", "Requests that cannot be decoded.", lambda: counters.malformed)
    gauge("requests_failed", "Requests whose handler failed.", lambda: counters.handler_errors)
    gauge("connections", "Open connections.", lambda: server.connection_count)
    gauge("broker_epoch", "Epoch of the registration.", lambda: context.identity.broker_epoch)
    gauge("registered", "Whether the broker is registered.", lambda: context.identity.is_registered)
