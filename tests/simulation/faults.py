"""What goes wrong in a run: each seed draws which kinds of faults there are, and how often.

Every fault ends by itself after a while; `Nemesis.heal` ends them all. A kind that a seed leaves
out leaves room for the others (swarm testing).
"""

import asyncio
import errno
import random
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from functools import partial

from tests.fakes.zookeeper_sessions import WriteRecord
from tests.simulation.cluster import SimulatedCluster
from tests.simulation.runbook import give_disks_back, keep_partitions_led
from tests.simulation.second_process import SecondProcess
from tests.simulation.violations import require
from tests.simulation.zookeeper_faults import (
    cut_zookeeper,
    cut_zookeeper_from_all,
    freeze_zookeeper,
    lose_replies,
    stop_zookeeper,
)

MAX_FAULTS_S = 60.0
"""A run whose processes are all down makes no steps."""

STEPS_PER_S_MAX = 20_000
"""Far above what any run makes in a virtual second: more are timers that fire for ever."""

Fault = Callable[["Nemesis"], Awaitable[None]]


@dataclass(frozen=True, slots=True, kw_only=True)
class FaultPlan:
    """The kinds of faults of one run, and the pause between two, in seconds."""

    kinds: tuple[str, ...]
    pause_s: tuple[float, float]

    @classmethod
    def draw(cls, rng: random.Random) -> "FaultPlan":
        """Draw a plan: each kind with its chance, at least one."""
        kinds = tuple(kind for kind in FAULTS if rng.random() < CHANCES.get(kind, 0.5))
        shortest = rng.choice((0.2, 0.6, 1.5))
        return cls(kinds=kinds or (rng.choice(list(FAULTS)),), pause_s=(shortest, shortest * 3))


class Nemesis:
    """Causes faults until it is told to heal."""

    def __init__(self, cluster: SimulatedCluster, plan: FaultPlan, rng: random.Random) -> None:
        self.cluster = cluster
        self.random = rng
        self.injected = 0
        self.boundaries = 0
        """How many times a controller was killed between two of its effects."""
        self.is_zookeeper_down = False
        self._plan = plan

    async def run(self, duration_s: float, *, min_steps: int = 0) -> None:
        """Cause faults for ``duration_s`` and that many steps of the loop, then heal everything."""
        loop = self.cluster.loop
        until = loop.time() + duration_s
        at_last = loop.time() + max(duration_s, MAX_FAULTS_S)
        async with asyncio.TaskGroup() as tasks:
            while loop.time() < until or (loop.steps < min_steps and loop.time() < at_last):
                await asyncio.sleep(self.random.uniform(*self._plan.pause_s))
                kind = self.random.choice(self._plan.kinds)
                self.injected += 1
                tasks.create_task(FAULTS[kind](self))  # type: ignore[arg-type]
        self.heal()

    def heal(self) -> None:
        """End every fault: links, sessions, clocks, disks, processes.

        A broker does not use a log directory again that has failed: it must be started anew.
        """
        self.cluster.loop.network.heal_all()
        self.cluster.clocks.set_all_right()
        self.cluster.disks.mend_all()
        for name in self.cluster.names:
            self.cluster.zookeeper.heal(name)
            host = self.cluster.hosts.get(name)
            if host is None:
                self.cluster.start(name)
            elif host.is_paused:
                self.cluster.loop.resume(host)
        for broker_id in self.cluster.broker_ids:
            self._have_all_directories(broker_id)
        self.cluster.run_client("operator", partial(keep_partitions_led, self.cluster))

    def _have_all_directories(self, broker_id: int) -> None:
        broker, name = self.cluster.brokers.get(broker_id), f"broker-{broker_id}"
        if broker is None:
            # It may have found a directory failing as it started.
            self.cluster.kill(name)
            self.cluster.start(name)
        elif broker.replicas.log_dirs.offline_directories or broker.replicas.log_dirs.unopened:
            self.cluster.stop_broker(broker_id)

    async def sleep(self, low_s: float, high_s: float) -> None:
        """Wait a random time."""
        await asyncio.sleep(self.random.uniform(low_s, high_s))

    def pick(self, prefix: str = "") -> str:
        """Draw a host."""
        return self.random.choice([n for n in self.cluster.names if n.startswith(prefix)])

    def note(self, text: str) -> None:
        """Write a fault into the trace."""
        self.cluster.loop.trace.add(self.cluster.loop.now, "nemesis", text)


async def crash(nemesis: Nemesis, prefix: str) -> None:
    """Kill a process and start it again, at once or after its session has run out."""
    await kill_and_restart(nemesis, nemesis.pick(prefix))


async def kill_and_restart(nemesis: Nemesis, name: str) -> None:
    """Kill the process of a host, unless it is down, and start it again."""
    if not nemesis.cluster.is_up(name):
        return
    nemesis.cluster.kill(name)
    await nemesis.sleep(0.05, nemesis.random.choice((0.3, 6.0)))
    if not nemesis.cluster.is_up(name):
        nemesis.cluster.start(name)


async def crash_broker(nemesis: Nemesis) -> None:
    """Kill a broker."""
    await crash(nemesis, "broker-")


async def crash_candidate(nemesis: Nemesis) -> None:
    """Kill a candidate, the controller or not."""
    await crash(nemesis, "candidate-")


async def crash_between_effects(nemesis: Nemesis) -> None:
    """Kill a controller after one of its next writes, before it hears that it was applied (C8)."""
    writes = nemesis.random.randint(1, 20)
    host: asyncio.Future[str] = asyncio.get_running_loop().create_future()

    def count(record: WriteRecord) -> None:
        nonlocal writes
        writes -= record.host.startswith("candidate-")
        if writes <= 0 and not host.done():
            host.set_result(record.host)

    after_write = nemesis.cluster.zookeeper.after_write
    after_write.append(count)
    try:
        async with asyncio.timeout(5.0):
            name = await host
    except TimeoutError:
        return
    finally:
        after_write.remove(count)
    nemesis.boundaries += nemesis.cluster.is_up(name)
    nemesis.note(f"{name} dies between two effects")
    await kill_and_restart(nemesis, name)


async def crash_mover(nemesis: Nemesis) -> None:
    """Kill who carries a reassignment out, if anybody does."""
    if "mover" in nemesis.cluster.names:
        await crash(nemesis, "mover")


async def pause(nemesis: Nemesis) -> None:
    """Stop a process for less or more than its session lasts, then let it go on."""
    name = nemesis.pick()
    host = nemesis.cluster.hosts.get(name)
    if host is None or host.is_paused:
        return
    nemesis.cluster.loop.pause(host)
    await nemesis.sleep(0.1, nemesis.random.choice((1.0, 6.0)))
    nemesis.cluster.loop.resume(host)


async def expire_session(nemesis: Nemesis) -> None:
    """End a session on the server; its owner learns of it later."""
    name = nemesis.pick()
    nemesis.note(f"session of {name} expires")
    nemesis.cluster.zookeeper.kill_session(name)
    await nemesis.sleep(0, 1)


async def cut_link(nemesis: Nemesis) -> None:
    """Cut one or both directions between two hosts (N1, N2, N5)."""
    one, other = nemesis.pick(), nemesis.pick()
    if one == other:
        return
    network = nemesis.cluster.loop.network
    both = nemesis.random.random() < 0.5
    network.cut(one, other)
    if both:
        network.cut(other, one)
    await nemesis.sleep(0.2, 5)
    network.heal(one, other)
    if both:
        network.heal(other, one)


async def isolate(nemesis: Nemesis) -> None:
    """Cut a broker off from every other host but ZooKeeper."""
    name = nemesis.pick("broker-")
    network = nemesis.cluster.loop.network
    for other in nemesis.cluster.names:
        if other != name:
            network.cut(name, other)
            network.cut(other, name)
    await nemesis.sleep(0.5, 5)
    for other in nemesis.cluster.names:
        network.heal(name, other)
        network.heal(other, name)


async def reset_link(nemesis: Nemesis) -> None:
    """Reset the connections between two hosts (N10)."""
    nemesis.cluster.loop.network.reset_link(nemesis.pick(), nemesis.pick("broker-"))
    await nemesis.sleep(0, 0.5)


async def slow_link(nemesis: Nemesis) -> None:
    """Delay one direction between two hosts (N8)."""
    link = (nemesis.pick(), nemesis.pick())
    nemesis.note(f"{link[0]} to {link[1]} is slow")
    slow = nemesis.random.choice((0.02, 0.2))
    nemesis.cluster.loop.network.link_latency_s[link] = (slow / 2, slow * 2)
    await nemesis.sleep(0.5, 5)
    nemesis.cluster.loop.network.link_latency_s.pop(link, None)


async def roll_broker(nemesis: Nemesis) -> None:
    """End a broker in good order; it comes back by itself."""
    name = nemesis.pick("broker-")
    nemesis.note(f"{name} is asked to stop")
    nemesis.cluster.stop_broker(int(name.removeprefix("broker-")))
    await nemesis.sleep(0.5, 3)


async def crash_all(nemesis: Nemesis) -> None:
    """Kill every broker at once; what the kernels had is still there (P5)."""
    cluster = nemesis.cluster
    names = [name for name in cluster.names if name.startswith("broker-") and cluster.is_up(name)]
    for name in names:
        cluster.kill(name)
    await nemesis.sleep(0.1, 4)
    for name in names:
        await nemesis.sleep(0, 1)
        if not cluster.is_up(name):
            cluster.start(name)


async def break_directory(nemesis: Nemesis, codes: Sequence[int], directories: int) -> None:
    """Have log directories of a broker refuse for a while, then start the broker anew.

    A broker whose directories are all gone ends, and is started again and again meanwhile; one
    that is left with another goes on without what it lost.
    """
    cluster, rng = nemesis.cluster, nemesis.random
    broker = rng.choice(cluster.broker_ids)
    failing = rng.sample(cluster.log_dirs, min(directories, len(cluster.log_dirs)))
    if any(cluster.disks.is_broken(broker, directory) for directory in cluster.log_dirs):
        return
    code = rng.choice(codes)
    torn_bytes = rng.choice((0, 1, 40, 70, None)) if code == errno.ENOSPC else None
    nemesis.note(f"{failing} of broker {broker}: {errno.errorcode[code]}")
    for directory in failing:
        cluster.disks.break_directory(broker, directory, code, torn_bytes=torn_bytes)
    await nemesis.sleep(0.2, rng.choice((1.0, 4.0)))
    if rng.random() < 0.3:
        # What it has lost it does not know after a start, until the disk is mended.
        await kill_and_restart(nemesis, f"broker-{broker}")
        await nemesis.sleep(0.5, 4.0)
    for directory in failing:
        cluster.disks.mend(broker, directory)
    nemesis.note(f"{failing} of broker {broker}: mended")
    if rng.random() < 0.5:
        await nemesis.sleep(0, 2)
        if rng.random() < 0.5:
            cluster.stop_broker(broker)
        else:
            await kill_and_restart(nemesis, f"broker-{broker}")


async def fail_directory(nemesis: Nemesis) -> None:
    """Have one log directory fail, or become read-only (D5, D8)."""
    await break_directory(nemesis, (errno.EIO, errno.EROFS), 1)


async def fill_disk(nemesis: Nemesis) -> None:
    """Leave no room in one log directory or in all, until there is some again (D1, D2)."""
    await break_directory(nemesis, (errno.ENOSPC,), nemesis.random.choice((1, 2)))


async def replace_disk(nemesis: Nemesis) -> None:
    """Have a broker come back with an empty disk, and maybe give it its disk back (P7)."""
    cluster, name = nemesis.cluster, nemesis.pick("broker-")
    broker = int(name.removeprefix("broker-"))
    if not cluster.is_up(name) or cluster.disks.is_shared(broker):
        return
    nemesis.note(f"{name} gets an empty disk")
    cluster.replace_disk(broker)
    await nemesis.sleep(0.05, nemesis.random.choice((0.3, 6.0)))
    if not cluster.is_up(name):
        cluster.start(name)
    await nemesis.sleep(0.5, 6.0)
    if nemesis.random.random() < 0.3:
        give_disks_back(cluster)


async def jump_clock(nemesis: Nemesis) -> None:
    """Have a host's wall clock leap, and maybe leap back (T1)."""
    name = nemesis.pick(nemesis.random.choice(("", "broker-")))
    by_s = nemesis.random.choice((-1, 1)) * nemesis.random.choice((0.2, 60, 3600, 40_000))
    nemesis.note(f"the clock of {name} leaps by {by_s} s")
    cluster = nemesis.cluster
    cluster.clocks.leap(name, int(by_s * 1000))
    before, steps = cluster.loop.now, cluster.loop.steps
    await nemesis.sleep(0.2, 5)
    rate = (cluster.loop.steps - steps) / (cluster.loop.now - before)
    require("T1", rate < STEPS_PER_S_MAX, f"{rate:.0f} steps per second after a leap of {name}")
    if nemesis.random.random() < 0.5:
        cluster.clocks.set_right(name)


async def second_process(nemesis: Nemesis) -> None:
    """Start a broker a second time on its disk, and maybe kill the first while the other waits."""
    cluster, name = nemesis.cluster, nemesis.pick("broker-")
    broker = int(name.removeprefix("broker-"))
    if not cluster.is_up(name) or cluster.disks.is_shared(broker):
        return
    second = SecondProcess(cluster, broker, random.Random(nemesis.random.getrandbits(64)))
    await second.live()


async def rot_byte(nemesis: Nemesis) -> None:
    """Let a committed byte rot on a leader's disk, where another in-sync replica has it."""
    cluster, records = nemesis.cluster, nemesis.cluster.replication.committed
    committed = {name: len(known) for name, known in records.items()}
    await nemesis.sleep(1, 2)  # What was written a moment ago is not checked again.
    where = cluster.bit_rot.one_byte(cluster.metadata.states, committed, nemesis.random)
    nemesis.note(f"rotten: {where}")


CHANCES = {"fail_directory": 0.35, "fill_disk": 0.25, "replace_disk": 0.25, "rot_byte": 0.3}
"""Other than even: of kinds that cost much time, or that show little."""

FAULTS: dict[str, Fault] = {
    "roll_broker": roll_broker,
    "crash_broker": crash_broker,
    "crash_all": crash_all,
    "crash_candidate": crash_candidate,
    "crash_between_effects": crash_between_effects,
    "crash_mover": crash_mover,
    "pause": pause,
    "expire_session": expire_session,
    "lose_replies": lose_replies,
    "cut_zookeeper": cut_zookeeper,
    "cut_zookeeper_from_all": cut_zookeeper_from_all,
    "stop_zookeeper": stop_zookeeper,
    "freeze_zookeeper": freeze_zookeeper,
    "cut_link": cut_link,
    "isolate": isolate,
    "reset_link": reset_link,
    "slow_link": slow_link,
    "fail_directory": fail_directory,
    "fill_disk": fill_disk,
    "replace_disk": replace_disk,
    "second_process": second_process,
    "rot_byte": rot_byte,
    "jump_clock": jump_clock,
}
