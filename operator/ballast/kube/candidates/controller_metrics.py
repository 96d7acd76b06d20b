"""The candidates' own metrics, for each BrokerSet."""

from collections.abc import Callable, Iterator, Sequence

from prometheus_client.core import GaugeMetricFamily, Metric
from prometheus_client.samples import Sample

from ballast.brokersets.observation.observation import ZooKeeperState
from ballast.candidate.candidate import Candidate
from ballast.candidate.metrics import CandidateCollector
from ballast.kube.candidates.candidates import CandidateSlot
from ballast.kube.runtime.candidate_view import zookeeper_state


class CandidatesCollector:
    """Reads every candidate's state at each scrape, labelled with its BrokerSet."""

    def __init__(self, slots: Callable[[], Sequence[CandidateSlot]]) -> None:
        self._slots = slots

    def collect(self) -> Iterator[Metric]:
        """Yield the metrics of all candidates, each family once."""
        families: dict[str, Metric] = {}
        wanted = GaugeMetricFamily(
            "ballast_controller_wanted",
            "1 for each BrokerSet of which this operator is to be able to be the controller.",
            labels=["namespace", "name"],
        )
        for slot in self._slots():
            if slot.spec is not None:
                wanted.add_metric([slot.key.namespace, slot.key.name], 1)
            if slot.candidate is None:
                continue
            labels = {"namespace": slot.key.namespace, "name": slot.key.name}
            own = CandidateCollector(slot.candidate).collect()
            for family in (*own, _session_state(slot.candidate)):
                labelled = Metric(family.name, family.documentation, family.type)
                merged = families.setdefault(family.name, labelled)
                merged.samples += (_labelled(sample, labels) for sample in family.samples)
        yield from (*families.values(), wanted)


def _session_state(candidate: Candidate) -> Metric:
    family = GaugeMetricFamily(
        "ballast_zookeeper_session_state",
        "1 for the state that the session with ZooKeeper is in.",
        labels=["state"],
    )
    current = zookeeper_state(candidate)
    for state in ZooKeeperState:
        family.add_metric([state.value], int(state is current))
    return family


def _labelled(sample: Sample, labels: dict[str, str]) -> Sample:
    return sample._replace(labels={**labels, **sample.labels})
