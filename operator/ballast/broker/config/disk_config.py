"""The part of a broker's configuration that is about its log directories as a whole."""

from dataclasses import dataclass

from ballast.broker.config.properties import setting


@dataclass(frozen=True, kw_only=True)
class DiskSettings:
    """The properties of log directories, parsed. Times are milliseconds."""

    log_dir_lock_timeout_ms: int = setting("ballast.log.dir.lock.timeout.ms")
