"""What a member shows to Prometheus: of ZooKeeper's ``mntr``, what an operator acts on."""

from collections.abc import Callable, Iterator, Mapping
from typing import Final

from prometheus_client.core import GaugeMetricFamily, Metric

PREFIX: Final = "ballast_zookeeper_"

_GAUGES: Final = {
    "zk_avg_latency": ("request_latency_average_milliseconds", "Average time of a request."),
    "zk_max_latency": ("request_latency_max_milliseconds", "Longest time of a request."),
    "zk_outstanding_requests": ("outstanding_requests", "Requests that wait."),
    "zk_num_alive_connections": ("connections", "Open connections."),
    "zk_znode_count": ("znodes", "Znodes."),
    "zk_ephemerals_count": ("ephemeral_znodes", "Znodes that end with their session."),
    "zk_watch_count": ("watches", "Watches."),
    "zk_approximate_data_size": ("data_bytes", "Size of all znodes."),
    "zk_open_file_descriptor_count": ("open_file_descriptors", "Open file descriptors."),
    "zk_max_file_descriptor_count": ("max_file_descriptors", "Limit of file descriptors."),
    "zk_synced_followers": ("synced_followers", "Followers in sync; the leader knows."),
}


def read_mntr(answer: str) -> dict[str, float]:
    """Return the numbers in an answer to ``mntr``."""
    found = {}
    for line in answer.splitlines():
        name, _, value = line.partition("\t")
        try:
            found[name] = float(value)
        except ValueError:
            continue  # A word: the version, the state.
    return found


class MemberCollector:
    """Shows what the member last saw."""

    def __init__(self, seen: Callable[[], tuple[str, int, Mapping[str, float]]]) -> None:
        """``seen`` returns the server's mode, the number of voters, and the numbers of mntr."""
        self._seen = seen

    def collect(self) -> Iterator[Metric]:
        """Yield the metrics as they are now."""
        mode, voters, numbers = self._seen()
        yield _gauge("serving", "1 while the server takes sessions.", int(bool(mode)))
        yield _gauge("leader", "1 while the server leads the ensemble.", int(mode == "leader"))
        yield _gauge("voters", "Servers in the ensemble, as this one knows it.", voters)
        for key, (name, text) in _GAUGES.items():
            if key in numbers:
                yield _gauge(name, text, numbers[key])


def _gauge(name: str, text: str, value: float) -> Metric:
    return GaugeMetricFamily(PREFIX + name, text, value)
