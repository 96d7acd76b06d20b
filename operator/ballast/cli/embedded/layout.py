"""Where a local cluster keeps what, which ports it uses, and how its children are started.

DIR/run/NAME.pid            one pid file per child: zookeeper, controller-1, broker-1, …
DIR/logs/NAME.log           what each child prints
DIR/config/NAME.properties  how each child is configured
DIR/data/NAME/              what each child keeps
DIR/data/NAME-dir-2/ …      further log directories of a broker
"""

import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from ballast.cli.embedded.processes import ChildSpec

ZOOKEEPER = "zookeeper"
HOST = "127.0.0.1"

_CONTROLLER_PORT_OFFSET = 60
_ZOOKEEPER_PORT_OFFSET = 90
_HTTP_PORT_OFFSET = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterLayout:
    """A local cluster on one folder and one range of ports."""

    directory: Path
    brokers: int
    controllers: int
    base_port: int
    """Broker N listens on ``base_port + N - 1``."""
    log_dirs: int = 1
    """Log directories of each broker."""
    overrides: Mapping[str, str]
    """Properties that take precedence in every broker and controller."""

    @property
    def broker_ids(self) -> range:
        """The brokers' ids, from 1."""
        return range(1, self.brokers + 1)

    @property
    def controller_ids(self) -> range:
        """The candidates' ids, from 1."""
        return range(1, self.controllers + 1)

    @property
    def zookeeper_port(self) -> int:
        """ZooKeeper's client port."""
        return self.base_port + _ZOOKEEPER_PORT_OFFSET

    @property
    def zookeeper_connect(self) -> str:
        """The connect string of brokers and controllers."""
        return f"{HOST}:{self.zookeeper_port}"

    @property
    def bootstrap_servers(self) -> str:
        """The brokers' addresses, comma-joined."""
        return ",".join(f"{HOST}:{self.broker_port(broker_id)}" for broker_id in self.broker_ids)

    @property
    def ports(self) -> list[int]:
        """Every port that the cluster listens on."""
        controllers = [self.controller_port(number) for number in self.controller_ids]
        http = [self.http_port(f"broker-{number}") for number in self.broker_ids]
        http += [self.http_port(f"controller-{number}") for number in self.controller_ids]
        brokers = [self.broker_port(number) for number in self.broker_ids]
        return [self.zookeeper_port, *controllers, *brokers, *http]

    def controller_port(self, candidate_id: int) -> int:
        """Return the port of a candidate's endpoint."""
        return self.base_port + _CONTROLLER_PORT_OFFSET + candidate_id - 1

    def broker_port(self, broker_id: int) -> int:
        """Return the port of a broker's listener."""
        return self.base_port + broker_id - 1

    def http_port(self, name: str) -> int:
        """Return the port of a child's health and metrics."""
        kind, _, number = name.rpartition("-")
        offset = 0 if kind == "broker" else _CONTROLLER_PORT_OFFSET
        return self.base_port + _HTTP_PORT_OFFSET + offset + int(number) - 1

    def data(self, name: str) -> Path:
        """Return a child's data folder."""
        return self.directory / "data" / name

    def log_directories(self, name: str) -> list[Path]:
        """Return a broker's log directories."""
        further = range(2, self.log_dirs + 1)
        return [self.data(name), *(self.data(f"{name}-dir-{number}") for number in further)]

    def pid_path(self, name: str) -> Path:
        """Return a child's pid file."""
        return self.directory / "run" / f"{name}.pid"

    def log_path(self, name: str) -> Path:
        """Return a child's log."""
        return self.directory / "logs" / f"{name}.log"

    def child(self, name: str, argv: tuple[str, ...]) -> ChildSpec:
        """Return what starts a child of that name."""
        return ChildSpec(
            name=name,
            argv=argv,
            pid_path=self.pid_path(name),
            log_path=self.log_path(name),
            environment=os.environ,
        )

    def broker_properties(self, broker_id: int) -> dict[str, str]:
        name = f"broker-{broker_id}"
        return {
            "broker.id": str(broker_id),
            "listeners": f"PLAINTEXT://{HOST}:{self.broker_port(broker_id)}",
            "log.dirs": ",".join(str(path.resolve()) for path in self.log_directories(name)),
            "zookeeper.connect": self.zookeeper_connect,
            "zookeeper.session.timeout.ms": "6000",
            "default.replication.factor": str(min(3, self.brokers)),
            "offsets.topic.replication.factor": str(min(3, self.brokers)),
            "controlled.shutdown.retry.backoff.ms": "500",
            "ballast.http.listener": f"{HOST}:{self.http_port(name)}",
            **self.overrides,
        }

    def controller_properties(self, candidate_id: int) -> dict[str, str]:
        return {
            "controller.id": str(candidate_id),
            "controller.listener": f"{HOST}:{self.controller_port(candidate_id)}",
            "zookeeper.connect": self.zookeeper_connect,
            "zookeeper.session.timeout.ms": "4000",
            "default.replication.factor": str(min(3, self.brokers)),
            "ballast.http.listener": f"{HOST}:{self.http_port(f'controller-{candidate_id}')}",
            **self.overrides,
        }

    def broker(self, broker_id: int) -> ChildSpec:
        """Write a broker's properties and return what starts it."""
        properties = self.broker_properties(broker_id)
        return self._ballast(f"broker-{broker_id}", "broker", properties)

    def controller(self, candidate_id: int) -> ChildSpec:
        """Write a controller candidate's properties and return what starts it."""
        properties = self.controller_properties(candidate_id)
        return self._ballast(f"controller-{candidate_id}", "controller", properties)

    def _ballast(self, name: str, command: str, properties: Mapping[str, str]) -> ChildSpec:
        path = self.directory / "config" / f"{name}.properties"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("".join(f"{key}={value}\n" for key, value in properties.items()))
        return self.child(name, (sys.executable, "-m", "ballast", command, str(path)))
