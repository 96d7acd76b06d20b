"""The part of Kafka's admin API that is about configurations, on a `FakeCluster`."""

from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING

from ballast.reassign.ports import RequestError
from tests.fakes.crash_point import CrashPoint

if TYPE_CHECKING:
    from tests.fakes.cluster_admin import FakeCluster


class FakeConfigs:
    """Configurations of topics, of single brokers, and of all brokers at once."""

    cluster: "FakeCluster"
    crash_point: CrashPoint

    def check(self) -> None:
        """Raise `ClusterUnavailable` if nobody answers."""
        raise NotImplementedError

    def check_broker(self, broker_id: int) -> None:
        """Raise `BrokerUnavailable` if one broker does not answer."""
        raise NotImplementedError

    async def topic_configs(
        self, topics: Collection[str], names: Collection[str]
    ) -> Mapping[str, Mapping[str, str]]:
        self.check()
        return {
            topic: {n: v for n, v in self.cluster.topic_configs[topic].items() if n in names}
            for topic in topics
            if topic in self.cluster.topic_configs
        }

    async def effective_topic_configs(
        self, topics: Collection[str], names: Collection[str]
    ) -> Mapping[str, Mapping[str, str]]:
        self.check()
        inherited = {**self.cluster.static_configs, **self.cluster.default_configs}
        return {
            topic: {
                n: v
                for n, v in {**inherited, **self.cluster.topic_configs[topic]}.items()
                if n in names
            }
            for topic in topics
            if topic in self.cluster.topic_configs
        }

    async def broker_configs(self, broker_id: int, names: Collection[str]) -> Mapping[str, str]:
        self.check_broker(broker_id)
        configs = self.cluster.broker_configs[broker_id]
        return {name: value for name, value in configs.items() if name in names}

    async def default_broker_configs(self, names: Collection[str]) -> Mapping[str, str]:
        self.check()
        return {n: v for n, v in self.cluster.default_configs.items() if n in names}

    async def alter_default_broker_configs(
        self, changes: Mapping[str, str | None]
    ) -> RequestError | None:
        self.check()
        self.crash_point.before_effect("default configs")
        _alter_values(self.cluster.default_configs, changes)
        self.crash_point.after_effect()
        return None

    async def alter_topic_configs(
        self, changes: Mapping[str, Mapping[str, str | None]]
    ) -> Mapping[str, RequestError]:
        self.check()
        self.crash_point.before_effect("topic configs")
        errors: dict[str, RequestError] = {}
        for topic, values in changes.items():
            if topic not in self.cluster.topic_configs:
                errors[topic] = RequestError(
                    error="UNKNOWN_TOPIC_OR_PARTITION", message="The topic does not exist."
                )
                continue
            _alter_values(self.cluster.topic_configs[topic], values)
        self.crash_point.after_effect()
        return errors

    async def alter_broker_configs(
        self, broker_id: int, changes: Mapping[str, str | None]
    ) -> RequestError | None:
        self.check_broker(broker_id)
        self.crash_point.before_effect(f"broker {broker_id} configs")
        _alter_values(self.cluster.broker_configs[broker_id], changes)
        self.crash_point.after_effect()
        return None


def _alter_values(configs: dict[str, str], changes: Mapping[str, str | None]) -> None:
    for name, value in changes.items():
        if value is None:
            configs.pop(name, None)
        else:
            configs[name] = value
