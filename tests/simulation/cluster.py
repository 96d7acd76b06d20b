"""Brokers, candidates, ZooKeeper and disks on simulated hosts, with the invariants looking on."""

import asyncio
import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from ballast.broker.broker import Broker
from ballast.broker.config.config import BrokerConfig
from ballast.broker.errors import StartupRefused
from ballast.candidate.candidate import Candidate
from ballast.candidate.options import CandidateOptions
from ballast.controller.state.options import ControllerOptions
from ballast.model.ids import NO_LEADER, TopicPartition
from ballast.model.leadership import LeaderAndIsr
from ballast.model.settings.controller_config import ControllerConfig
from ballast.net.controller_channels import ControllerChannelOptions
from ballast.replication.partition import LeaderView
from ballast.storage.errors import StorageError
from ballast.storage.files.layout import parse_partition_directory
from ballast.zk.errors import ZooKeeperError
from ballast.znodes import configs
from tests.fakes.zookeeper import FakeZooKeeper
from tests.fakes.zookeeper_sessions import WriteRecord
from tests.simulation.bit_rot import BitRot, check_renewal
from tests.simulation.compaction_rules import CompactionRules
from tests.simulation.disk_logs import DiskLogs
from tests.simulation.disks import LOG_DIRS, Disks
from tests.simulation.hosts import HOST, Host, broker_name, broker_of, candidate_name
from tests.simulation.loop import SimulatedLoop
from tests.simulation.lost_disks import LostDisks
from tests.simulation.metadata_rules import MetadataRules
from tests.simulation.replication_rules import ReplicationRules
from tests.simulation.violations import InvariantViolation
from tests.simulation.wall_clocks import EPOCH_MS, WallClocks


class ProcessEnded(Exception):
    """A process came to an end by itself."""


SUPERVISOR_PAUSE_S = 0.5
"""Between the end of a broker's process and its next start."""

BROKER_PORT = 9092
CANDIDATE_PORT = 9093
COMPACTED = "compacted"
"""The topic whose records may go when newer ones have come."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterOptions:
    """How large the cluster is, and how patient; times as Kafka names them."""

    brokers: int = 4
    candidates: int = 2
    session_timeout_s: float = 3.0
    zookeeper_delay_s: tuple[float, float] = (0.0002, 0.002)
    """Time that a message to or from ZooKeeper takes."""
    min_insync_replicas: int = 2
    replica_lag_time_max_ms: int = 2_000
    log_dirs: int = 1
    """Log directories of each broker."""
    broker_properties: Mapping[str, str] = field(default_factory=dict)


class SimulatedCluster:
    """A cluster whose processes can be killed and started again; what they wrote stays."""

    def __init__(self, loop: SimulatedLoop, options: ClusterOptions) -> None:
        self.loop = loop
        self.options = options
        self.zookeeper = FakeZooKeeper(
            self._random(),
            session_timeout_s=options.session_timeout_s,
            delay_s=options.zookeeper_delay_s,
            epoch_ms=EPOCH_MS,
        )
        self.broker_ids = list(range(1, options.brokers + 1))
        self.candidate_ids = list(range(101, 101 + options.candidates))
        self.clocks = WallClocks(lambda: loop.now)
        self.log_dirs = LOG_DIRS[: options.log_dirs]
        self.disks = Disks(self.broker_ids, self._random, self._before_rename)
        self.disks.on_violation = self._fail
        for broker_id, disk in self.disks.of.items():
            disk.wall_clock_ms = self.clocks.of(broker_name(broker_id))
        self.bit_rot = BitRot(self.disks.of, self.log_dirs)
        self.metadata = rules = MetadataRules(lambda host: host.startswith("candidate-"), broker_of)
        self.lost_disks = LostDisks(self.disks.of, rules.states, rules.is_being_deleted)
        self.logs = DiskLogs(
            self.disks.of, self.log_dirs, self._directory_in_use, self.lost_disks.content
        )
        self.replication = ReplicationRules(self.logs.read)
        self.compaction = CompactionRules(self.logs.read_sparse)
        self.brokers: dict[int, Broker] = {}
        """Those that have started."""
        self._processes: dict[str, tuple[int, Broker]] = {}
        """Those too that are about to, by host."""
        self.hosts: dict[str, Host] = {}
        self._stops: dict[str, asyncio.Event] = {}
        self._may_end: set[str] = set()
        self._mains: dict[str, Callable[[], Any]] = {
            **{candidate_name(c): partial(self._run_candidate, c) for c in self.candidate_ids},
            **{broker_name(b): partial(self._run_broker, b) for b in self.broker_ids},
        }
        self.failure: BaseException | None = None
        self.started_in_part: set[int] = set()
        """Brokers that once had no sight of one of their log directories from their start on."""
        self._obeyed: dict[tuple[int, TopicPartition], tuple[int, int]] = {}
        self._views: dict[int, dict[TopicPartition, tuple[LeaderView, int]]] = {}
        """Of each broker, what it leads, with the high watermarks that were seen."""
        self.zookeeper.after_write.append(self._after_write)
        loop.after_step = self._after_step

    @property
    def broker_addresses(self) -> list[tuple[str, int]]:
        """Where clients find brokers."""
        return [(broker_name(broker), BROKER_PORT) for broker in self.broker_ids]

    def state(self, partition: TopicPartition) -> LeaderAndIsr | None:
        """Return the partition's state in ZooKeeper now."""
        return self.metadata.states.get(partition)

    def leader_host(self, partition: TopicPartition) -> str | None:
        """Return the host of the partition's leader as ZooKeeper has it now."""
        state = self.state(partition)
        return None if state is None else broker_name(state.leader)

    # -- processes ------------------------------------------------------------------------------

    def start_all(self) -> None:
        """Start every process."""
        for name in self._mains:
            self.start(name)

    def start(self, name: str) -> None:
        """Start the process that belongs on a host."""
        assert name not in self.hosts, f"{name} runs already"
        self.zookeeper.revive(name)
        host = self.hosts[name] = Host(name)
        self.loop.trace.add(self.loop.now, name, "started")
        may_end = name in self._may_end
        self.loop.start(host, self._watch_over(name, self._mains[name], may_end=may_end))

    def add_process(self, name: str, main: Callable[[], Any]) -> None:
        """Start another process, which can be killed and started again, and may end by itself."""
        self._mains[name] = main
        self._may_end.add(name)
        self.start(name)

    def is_up(self, name: str) -> bool:
        """Whether the host's process runs."""
        return name in self.hosts

    def kill(self, name: str) -> None:
        """SIGKILL the process of a host; its disk keeps what the kernel had."""
        host = self.hosts.pop(name)
        self.loop.kill(host)
        self._stops.pop(name, None)
        self.zookeeper.kill(name)
        broker = broker_of(name)
        if broker is not None:
            self.brokers.pop(broker, None)
            self._processes.pop(name, None)
            self.disks.of[broker].crash(keep_page_cache=True)

    def replace_disk(self, broker_id: int) -> None:
        """Kill a broker, and put an empty disk in the place of its own."""
        self.kill(broker_name(broker_id))
        self.disks.mend_all_of(broker_id)
        self.lost_disks.replace(broker_id, self.logs.directory_of)

    def give_disk_back(self, broker_id: int) -> None:
        """Start a broker anew with what it had, where it has not begun anything else."""
        self.kill(broker_name(broker_id))
        self.disks.mend_all_of(broker_id)
        self.lost_disks.give_back(broker_id, self.log_dirs[0])
        self.start(broker_name(broker_id))

    def run_client(
        self, name: str, main: Callable[[], Any], host: Host | None = None
    ) -> asyncio.Task[Any]:
        """Run a client on a host of its own; an exception ends the run."""
        return self.loop.start(host or Host(name), self._watch_over(name, main, may_end=True))

    async def _watch_over(
        self, name: str, main: Callable[[], Any], *, may_end: bool = False
    ) -> None:
        """Run a process; what it raises ends the run, and so does its end unless it may."""
        try:
            await main()
        except InvariantViolation as error:
            self._fail(error)
        except Exception as error:  # noqa: BLE001 - whatever ends a process is a finding
            self._fail(ProcessEnded(f"{name}: {error!r}"), error)
        else:
            if not may_end:
                self._fail(ProcessEnded(name))

    async def _run_broker(self, broker_id: int) -> None:
        """Run a broker as its supervisor would: a start that fails is tried again."""
        name = broker_name(broker_id)
        while True:
            broker = Broker(
                self.broker_config(broker_id),
                client_factory=self.zookeeper.factory(name),
                files=self.disks.of[broker_id],
                random=self._random(),
                wall_clock_ms=self.clocks.of(name),
            )
            self._processes[name] = (broker_id, broker)
            try:
                await broker.start()
            except (ZooKeeperError, StartupRefused) as error:
                self.loop.trace.add(self.loop.now, name, f"did not start: {error!r}")
                await asyncio.sleep(SUPERVISOR_PAUSE_S)
                continue
            self.brokers[broker_id] = broker
            if broker.replicas.log_dirs.offline_directories:
                self.started_in_part.add(broker_id)
            stop = self._stops[name] = asyncio.Event()
            await self._stopped_or_failed(stop, broker)
            failure = broker.failure
            if failure is not None and not isinstance(failure, StorageError):
                raise failure
            await broker.shutdown()
            del self.brokers[broker_id]
            self.loop.trace.add(self.loop.now, name, f"stopped: {failure or 'in good order'}")
            await asyncio.sleep(SUPERVISOR_PAUSE_S)

    @staticmethod
    async def _stopped_or_failed(stop: asyncio.Event, broker: Broker) -> None:
        async with asyncio.TaskGroup() as tasks:
            waiting = [tasks.create_task(event.wait()) for event in (stop, broker.failed)]
            await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
            for task in waiting:
                task.cancel()

    def stop_broker(self, broker_id: int) -> None:
        """SIGTERM: the broker hands leadership over and ends; its supervisor starts it again."""
        stop = self._stops.pop(broker_name(broker_id), None)
        if stop is not None and broker_id in self.brokers:
            stop.set()

    async def _run_candidate(self, candidate_id: int) -> None:
        candidate = Candidate(
            candidate_id,
            self.zookeeper.factory(candidate_name(candidate_id)),
            listen=(candidate_name(candidate_id), CANDIDATE_PORT),
            random=self._random(),
            wall_clock_ms=self.clocks.of(candidate_name(candidate_id)),
            options=CandidateOptions(
                controller=ControllerOptions(config=ControllerConfig(default_replication_factor=3)),
                channels=ControllerChannelOptions(request_timeout_s=5.0),
            ),
        )
        await candidate.run()

    def broker_config(self, broker_id: int) -> BrokerConfig:
        """Return what a broker is configured with."""
        options = self.options
        properties = {
            "broker.id": str(broker_id),
            "log.dirs": ",".join(self.log_dirs),
            "zookeeper.connect": "zookeeper:2181",
            "listeners": f"PLAINTEXT://{broker_name(broker_id)}:{BROKER_PORT}",
            "default.replication.factor": "3",
            "min.insync.replicas": str(options.min_insync_replicas),
            "replica.lag.time.max.ms": str(options.replica_lag_time_max_ms),
            "replica.fetch.wait.max.ms": "500",
            "replica.fetch.backoff.ms": "200",
            "replica.socket.timeout.ms": "2000",
            "ballast.load.sample.interval.ms": "0",
            **options.broker_properties,
        }
        config, unknown = BrokerConfig.from_properties(properties)
        assert not unknown, unknown
        return config

    def _random(self) -> random.Random:
        return random.Random(self.loop.random.getrandbits(64))

    @property
    def names(self) -> list[str]:
        """The hosts of all processes."""
        return list(self._mains)

    def configs(self) -> dict[str, dict[str, str]]:
        """Return the config overrides in ZooKeeper, by path."""
        return {
            f"/config/{kind}/{name}": configs.decode(
                f"{kind}/{name}", self.zookeeper.data(f"/config/{kind}/{name}") or b""
            )
            for kind in ("topics", "brokers")
            for name in self.zookeeper.children_of(f"/config/{kind}")
        }

    # -- invariants -----------------------------------------------------------------------------

    def _after_write(self, record: WriteRecord) -> None:
        """Check a transaction of ZooKeeper's, and who it puts in charge."""
        self.loop.trace.add(self.loop.now, record.host, record.describe())
        try:
            for partition in self.metadata.apply(record.host, record.operations):
                state = self.metadata.states.get(partition)
                if state is None:
                    self.lost_disks.deleted(partition)
                else:
                    self.rules_of(partition).state_changed(partition, state)
        except AssertionError as error:
            self._fail(error)

    def _directory_in_use(self, broker_id: int, partition: TopicPartition) -> str | None:
        process = self._processes.get(broker_name(broker_id))
        if process is None or not hasattr(process[1], "context"):
            return None
        return process[1].context.replicas.log_dirs.directory_of(partition)

    def _is_damaged(self, broker_id: int, partition: TopicPartition) -> bool:
        process = self._processes.get(broker_name(broker_id))
        context = getattr(process[1], "context", None) if process is not None else None
        return context is not None and partition in context.replicas.log_dirs.damaged

    def _before_rename(self, broker_id: int, path: str) -> None:
        """See replicas go: their folders are renamed before they are removed."""
        directory, _, folder = path.rpartition("/")
        partition = parse_partition_directory(folder)
        if directory not in self.log_dirs or partition is None:
            return
        state = self.metadata.states.get(partition)
        try:
            in_use = self._directory_in_use(broker_id, partition)
            if self._is_damaged(broker_id, partition):
                check_renewal(broker_id, partition, state)
            elif in_use in (None, directory):
                self.metadata.replica_deleted(broker_id, partition)
            else:
                self.rules_of(partition).copied(broker_id, partition, state)
        except AssertionError as error:
            self._fail(error)

    def rules_of(self, partition: TopicPartition) -> ReplicationRules | CompactionRules:
        """Return the rules that a partition's records obey."""
        return self.compaction if partition.topic == COMPACTED else self.replication

    def _after_step(self) -> None:
        """Check what the last step changed: high watermarks of the broker that it ran on."""
        process = self._processes.get(self.loop.last_host.name)
        if process is None or not hasattr(process[1], "context"):
            return
        broker_id, broker = process
        try:
            self._check_roles(broker_id, broker)
            self._check_marks(broker_id, {p.name: p.view for p in broker.replicas.leading()})
        except AssertionError as error:
            self._fail(error)

    def _check_roles(self, broker_id: int, broker: Broker) -> None:
        for name, partition in broker.replicas.partitions.items():
            self.lost_disks.hosted(broker_id, name)
            led = (partition.leader, partition.leader_epoch)
            before = self._obeyed.get((broker_id, name))
            self._obeyed[broker_id, name] = led
            # A replica that is stopped in an epoch that it knows is told of no other leader.
            is_stopped = before is not None and led == (NO_LEADER, before[1])
            if before != led and not is_stopped:
                self.metadata.obeyed(broker_id, name, *led)

    def _check_marks(
        self, broker_id: int, leading: Mapping[TopicPartition, LeaderView | None]
    ) -> None:
        views = self._views.setdefault(broker_id, {})
        for name, (view, mark) in list(views.items()):
            # What a leader commits in the step in which it ends counts too.
            if view.high_watermark != mark:
                self._advanced(broker_id, name, view)
            if leading.get(name) is not view:
                del views[name]
        for name, led in leading.items():
            if led is not None and name not in views:
                self._advanced(broker_id, name, led)

    def _advanced(self, broker_id: int, name: TopicPartition, view: LeaderView) -> None:
        mark = view.high_watermark
        self._views[broker_id][name] = (view, mark)
        self.rules_of(name).advanced(
            broker_id, name, view.leader_epoch, mark, self.metadata.states.get(name)
        )

    def _fail(self, failure: BaseException, cause: BaseException | None = None) -> None:
        """Keep the first thing that went wrong, and let the run end with it."""
        if self.failure is None and not self.loop.is_ending:
            self.loop.trace.add(self.loop.now, HOST.get().name, f"FAILED {failure}")
            if cause is not None and cause is not failure:
                failure.__cause__ = cause
            self.failure = failure
            self.loop.stop_soon(failure)
