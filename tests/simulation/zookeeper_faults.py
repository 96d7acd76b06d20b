"""ZooKeeper away: stopped, standing still, cut off from one host or from all of them.

Sessions last 3 s here, so what lasts longer ends some of them, or all.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tests.simulation.faults import Nemesis

LONGEST_S = (1.0, 5.0, 12.0)


async def lose_replies(nemesis: "Nemesis") -> None:
    """Break a connection to ZooKeeper again and again: what was under way is applied or not."""
    name = nemesis.pick()
    nemesis.note(f"{name} loses its connection to ZooKeeper")
    for _ in range(nemesis.random.choice((1, 20))):
        nemesis.cluster.zookeeper.disconnect(name)
        await nemesis.sleep(0, 0.3)


async def cut_zookeeper(nemesis: "Nemesis") -> None:
    """Cut a host off from ZooKeeper, but not from the others (N3, N4)."""
    name = nemesis.pick()
    nemesis.note(f"{name} is cut off from ZooKeeper")
    nemesis.cluster.zookeeper.cut(name)
    await nemesis.sleep(0.2, nemesis.random.choice(LONGEST_S))
    nemesis.cluster.zookeeper.heal(name)


async def cut_zookeeper_from_all(nemesis: "Nemesis") -> None:
    """Cut everybody off from ZooKeeper: it ends all sessions, and nobody hears of it."""
    nemesis.note("everybody is cut off from ZooKeeper")
    for name in nemesis.cluster.names:
        nemesis.cluster.zookeeper.cut(name)
    await nemesis.sleep(0.2, nemesis.random.choice(LONGEST_S))
    for name in nemesis.cluster.names:
        nemesis.cluster.zookeeper.heal(name)


async def stop_zookeeper(nemesis: "Nemesis") -> None:
    """Kill ZooKeeper and start it again later: it still has all sessions (Z3)."""
    if nemesis.is_zookeeper_down:
        return
    nemesis.note("ZooKeeper is down")
    nemesis.is_zookeeper_down = True
    nemesis.cluster.zookeeper.stop()
    await nemesis.sleep(0.5, nemesis.random.choice(LONGEST_S))
    nemesis.cluster.zookeeper.start()
    nemesis.is_zookeeper_down = False
    nemesis.note("ZooKeeper is up again")


async def freeze_zookeeper(nemesis: "Nemesis") -> None:
    """Let ZooKeeper stand still for a while: what has run out meanwhile ends at once after that."""
    if nemesis.is_zookeeper_down:
        return
    nemesis.note("ZooKeeper stands still")
    nemesis.is_zookeeper_down = True
    nemesis.cluster.zookeeper.freeze()
    await nemesis.sleep(0.5, nemesis.random.choice(LONGEST_S))
    nemesis.cluster.zookeeper.thaw()
    nemesis.is_zookeeper_down = False
    nemesis.note("ZooKeeper goes on")
