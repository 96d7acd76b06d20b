"""The gauges of a broker: what is read from its parts at each scrape."""

from functools import partial

from ballast.broker.apis.context import Parts
from ballast.coordinator.states import GroupState
from ballast.net.server.server import Server

_GROUP_GAUGES = {
    GroupState.PREPARING_REBALANCE: "preparing_rebalance",
    GroupState.COMPLETING_REBALANCE: "completing_rebalance",
    GroupState.STABLE: "stable",
    GroupState.DEAD: "dead",
    GroupState.EMPTY: "empty",
}


def add_gauges(parts: Parts, server: Server) -> None:
    """Add every gauge to the broker's metrics."""
    replicas, gauge = parts.replicas, parts.metrics.gauge
    gauge(
        "leader_count",
        "Partitions led here.",
        lambda: sum(1 for _ in replicas.leading()),
    )
    gauge("partition_count", "Replicas here.", lambda: len(replicas.partitions))
    gauge(
        "under_replicated_partitions",
        "Partitions led here whose ISR lacks a replica.",
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
        "How late the event loop was at most in the last minute.",
        lambda: parts.loop_lag.seconds,
    )
    gauge(
        "offline_log_directories",
        "Log directories that have failed.",
        lambda: len(replicas.log_dirs.offline_directories),
    )
    gauge(
        "missing_replicas",
        "Replicas in an ISR that went with their disk: they take no role.",
        lambda: len(replicas.missing),
    )
    gauge(
        "damaged_logs",
        "Logs here whose bytes have rotten: they are copied anew where others have them.",
        lambda: len(replicas.damaged),
    )
    _add_replication_gauges(parts)
    _add_log_gauges(parts)
    _add_purgatory_gauges(parts)
    _add_group_gauges(parts)
    _add_server_gauges(parts, server)


def _add_replication_gauges(parts: Parts) -> None:
    replicas, gauge = parts.replicas, parts.metrics.gauge
    gauge(
        "replica_max_lag",
        "Offsets that the slowest follower here lags behind its leader.",
        parts.fetchers.max_lag,
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
        "Topics here of which a list of throttled replicas is set.",
        lambda: len(replicas.throttles.topics),
    )


def _add_log_gauges(parts: Parts) -> None:
    replicas, gauge = parts.replicas, parts.metrics.gauge
    gauge(
        "producer_ids",
        "Idempotent producers that the logs here remember.",
        lambda: sum(len(log.producers) for log in replicas.log_dirs.logs.values()),
    )
    gauge(
        "log_cleaner_max_dirty_ratio",
        "Largest part of a compacted log that was dirty at the last look.",
        lambda: parts.log_cleaner.max_dirty_ratio,
    )
    gauge(
        "log_cleaner_idle_seconds",
        "Time since the cleaner last looked through the logs.",
        lambda: parts.log_cleaner.idle_s,
    )
    gauge(
        "uncleanable_logs",
        "Logs that are not compacted any more, for a batch that cannot be opened.",
        lambda: parts.log_cleaner.uncleanable_count,
    )
    gauge(
        "log_segments",
        "Segments of all logs here.",
        lambda: sum(log.segment_count for log in replicas.log_dirs.logs.values()),
    )


def _add_purgatory_gauges(parts: Parts) -> None:
    delays, gauge = parts.replicas.delays, parts.metrics.gauge
    gauge(
        "produce_purgatory_size",
        "Produce requests that wait for replicas.",
        lambda: delays.produce.delayed_count,
    )
    gauge(
        "fetch_purgatory_size",
        "Fetches that wait for records.",
        lambda: delays.fetch.delayed_count,
    )
    gauge(
        "delete_records_purgatory_size",
        "Deletions of records that wait for replicas.",
        lambda: delays.deletions.delayed_count,
    )
    gauge(
        "produce_purgatory_watched",
        "Entries in the watch lists of produce requests (Kafka's PurgatorySize).",
        lambda: delays.produce.watched_count,
    )
    gauge(
        "fetch_purgatory_watched",
        "Entries in the watch lists of fetches (Kafka's PurgatorySize).",
        lambda: delays.fetch.watched_count,
    )
    gauge(
        "requests_waiting",
        "Requests of all clients that wait for records or replicas.",
        lambda: parts.waits.shares.total,
    )
    gauge(
        "waits_refused",
        "Requests answered at once because their connection had more waits than its share.",
        lambda: parts.waits.refused,
    )
    gauge(
        "fetch_sessions",
        "Fetch sessions that are kept (Kafka's NumIncrementalFetchSessions).",
        lambda: len(delays.sessions),
    )
    gauge(
        "fetch_session_partitions",
        "Partitions of these (Kafka's NumIncrementalFetchPartitionsCached).",
        lambda: delays.sessions.partition_count,
    )
    gauge(
        "fetch_session_evictions",
        "Fetch sessions that gave way to others since the start.",
        lambda: delays.sessions.evictions,
    )


def _add_group_gauges(parts: Parts) -> None:
    """Add what Kafka's ``GroupMetadataManager`` shows, and the sizes of its purgatories."""
    coordinator, delays, gauge = parts.groups.coordinator, parts.groups.delays, parts.metrics.gauge

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
        lambda: delays.joins.delayed_count,
    )
    gauge(
        "heartbeat_purgatory_size",
        "Members of groups that heartbeats are expected from.",
        lambda: delays.heartbeats.delayed_count,
    )


def _add_server_gauges(parts: Parts, server: Server) -> None:
    gauge, counters = parts.metrics.gauge, server.counters
    gauge("connections_accepted", "Connections accepted.", lambda: counters.accepted)
    gauge("connections_refused", "Connections over a limit.", lambda: counters.refused)
    gauge("connections_timed_out", "Connections closed for silence.", lambda: counters.timed_out)
    gauge("requests", "Requests read.", lambda: counters.requests)
    gauge("requests_malformed", "Requests that cannot be read.", lambda: counters.malformed)
    gauge("requests_failed", "Requests whose handler failed.", lambda: counters.handler_errors)
    gauge("connections", "Open connections.", lambda: server.connection_count)
    gauge("broker_epoch", "Epoch of the registration.", lambda: parts.identity.broker_epoch)
    gauge("registered", "Whether the broker is registered.", lambda: parts.identity.is_registered)
