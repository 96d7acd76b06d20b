"""The work that a broker does beside its requests, from its registration until it stops.

Each coroutine runs until it is cancelled; one that raises ends the broker.
"""

from collections.abc import Callable, Coroutine, Iterator
from random import Random
from typing import Any

from ballast.broker.apis.context import BrokerContext
from ballast.broker.following.newer_leaders import NewerLeaders
from ballast.broker.lifecycle.peer_channels import PeerChannels
from ballast.broker.maintenance import housekeeping
from ballast.broker.maintenance.flush_by_age import FlushByAge
from ballast.broker.maintenance.load_reporter import LoadReporter

Work = Coroutine[Any, Any, None]


def background_work(
    context: BrokerContext, channels: PeerChannels, is_certain: Callable[[], bool], random: Random
) -> Iterator[Work]:
    """Yield what is to run as a task each; ``is_certain`` as `Registration.is_certain`."""
    config, replicas = context.config, context.replicas
    yield context.config_watcher.run()
    yield replicas.isr_writer.run()
    yield replicas.log_dir_events.run()
    yield context.log_dir_moves.run()
    if config.http_listener is not None:
        yield context.loop_lag.run()
    yield FlushByAge(replicas, config.flush_scheduler_interval_ms).run()
    yield LoadReporter(replicas, context.auto_creation, channels.load).run()
    yield NewerLeaders(replicas, context.replica_roles, channels.metadata, is_certain, random).run()
    if config.cleaner_enable:
        yield context.log_cleaner.run()
    yield from _periodic_actions(context)
    yield from _checkpoints(context)


def _periodic_actions(context: BrokerContext) -> Iterator[Work]:
    config, replicas = context.config, context.replicas
    log_dirs = replicas.log_dirs

    def remove_retired_segments() -> None:
        log_dirs.remove_retired_segments(int(replicas.clock() * 1000))

    def remove_expired_producers() -> None:
        log_dirs.remove_expired_producers(replicas.wall_clock_ms())

    isr_check_period_s = config.replica_lag_time_max_ms / 2 / 1000
    for period_s, action in (
        (isr_check_period_s, replicas.shrink_isrs),
        (isr_check_period_s, replicas.reconsider_damaged),
        (housekeeping.DELETE_PERIOD_S, log_dirs.remove_deleted),
        (housekeeping.RETIRED_PERIOD_S, remove_retired_segments),
        (housekeeping.PRODUCERS_PERIOD_S, remove_expired_producers),
        (config.offsets_retention_check_interval_ms / 1000, context.groups.expire_offsets),
    ):
        yield housekeeping.every(period_s, action)


def _checkpoints(context: BrokerContext) -> Iterator[Work]:
    config, replicas = context.config, context.replicas
    # Flushes write the checkpoint of log start offsets too, so it needs work of its own only where
    # it is due more often.
    if config.start_offset_checkpoint_interval_ms < config.flush_checkpoint_interval_ms:
        yield housekeeping.checkpoint_periodically(
            replicas, config.start_offset_checkpoint_interval_ms / 1000
        )
    for period_ms, work in (
        (
            config.high_watermark_checkpoint_interval_ms,
            housekeeping.checkpoint_high_watermarks_periodically,
        ),
        (config.flush_checkpoint_interval_ms, housekeeping.flush_periodically),
        (config.retention_check_interval_ms, housekeeping.retain_periodically),
    ):
        yield work(replicas, period_ms / 1000)
