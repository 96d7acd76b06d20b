"""In-memory TCP between simulated hosts.

Bytes of one connection arrive in order and in chunks of any size; connections are independent of
one another. A cut direction keeps its bytes until it heals, as TCP's retransmission would, and
nobody is told; a killed host resets its connections as soon as the reset can get through.
"""

import asyncio
import contextvars
from collections.abc import Callable
from typing import TYPE_CHECKING

from tests.simulation.hosts import HOST, Host
from tests.simulation.transport import Connection, SimulatedTransport

if TYPE_CHECKING:
    from tests.simulation.loop import SimulatedLoop

CONNECT_TIMEOUT_S = 10.0
"""After which a connection attempt over a cut link fails by itself."""

ProtocolFactory = Callable[[], asyncio.BaseProtocol]


class Network:
    """All links and connections."""

    def __init__(self, loop: "SimulatedLoop") -> None:
        self.loop = loop
        self.latency_s = (0.0001, 0.002)
        """Range of a delivery's delay on links that have none of their own."""
        self.link_latency_s: dict[tuple[str, str], tuple[float, float]] = {}
        self._listeners: dict[tuple[str, int], tuple[ProtocolFactory, contextvars.Context]] = {}
        self._silent: dict[tuple[str, int], None] = {}
        """Ports that are taken, but at which nobody is let in yet."""
        self._cut: set[tuple[str, str]] = set()
        self._connections: dict[Connection, None] = {}
        self._next_port = 40_000

    # -- faults ---------------------------------------------------------------------------------

    def cut(self, source: str, target: str) -> None:
        """Stop everything that goes from one host to the other; the way back stays open."""
        self.loop.trace.add(self.loop.now, source, f"link to {target} cut")
        self._cut.add((source, target))

    def heal(self, source: str, target: str) -> None:
        """Let a cut direction go on with what it held."""
        if (source, target) in self._cut:
            self.loop.trace.add(self.loop.now, source, f"link to {target} healed")
            self._cut.discard((source, target))
            self._pump_all()

    def heal_all(self) -> None:
        """Mend every link and forget delays of single links."""
        self._cut.clear()
        self.link_latency_s.clear()
        self._pump_all()

    def is_cut(self, source: str, target: str) -> bool:
        """Whether nothing gets from one host to the other."""
        return (source, target) in self._cut

    def reset_link(self, one: str, other: str) -> None:
        """Reset every connection between two hosts, as a firewall that forgot them would."""
        self.loop.trace.add(self.loop.now, one, f"connections to {other} reset")
        for connection in list(self._connections):
            if {connection.source.name, connection.target.name} == {one, other}:
                connection.reset(ConnectionResetError(104, "reset by the network"))

    def drop_host(self, host: Host) -> None:
        """Close a killed host's ports and reset its connections."""
        for key, (_, context) in list(self._listeners.items()):
            if context[HOST] is host:
                self.close_port(*key)
        for connection in list(self._connections):
            if host in (connection.source, connection.target):
                connection.end_killed(host)

    def delay(self, source: str, target: str) -> float:
        """Draw how long a delivery takes, in seconds."""
        low, high = self.link_latency_s.get((source, target), self.latency_s)
        return self.loop.random.uniform(low, high)

    def _pump_all(self) -> None:
        for connection in list(self._connections):
            connection.near.pump()
            connection.far.pump()

    # -- sockets --------------------------------------------------------------------------------

    def listen(
        self, factory: ProtocolFactory, port: int, *, is_serving: bool = True
    ) -> "SimulatedServer":
        """Take a port of the running host (0 = any), and open it if it ``is_serving``."""
        host = HOST.get()
        if port == 0:
            self._next_port += 1
            port = self._next_port
        if (host.name, port) in self._listeners:
            raise OSError(98, f"{host.name}:{port} is in use")
        self._listeners[host.name, port] = factory, contextvars.copy_context()
        if not is_serving:
            self._silent[host.name, port] = None
        return SimulatedServer(self, host.name, port)

    def close_port(self, name: str, port: int) -> None:
        """Stop listening; connections stay."""
        self._listeners.pop((name, port), None)
        self._silent.pop((name, port), None)

    def open_port(self, name: str, port: int) -> None:
        """Let connections in."""
        self._silent.pop((name, port), None)

    def is_listening(self, name: str, port: int) -> bool:
        """Whether the port is open."""
        return (name, port) in self._listeners and (name, port) not in self._silent

    async def connect(
        self, factory: ProtocolFactory, target: str, port: int
    ) -> tuple[SimulatedTransport, asyncio.BaseProtocol]:
        """Open a connection from the running host; raises `OSError`."""
        source = HOST.get()
        await asyncio.sleep(self.delay(source.name, target))
        if self.is_cut(source.name, target) or self.is_cut(target, source.name):
            await asyncio.sleep(CONNECT_TIMEOUT_S)
            raise TimeoutError(110, f"connecting to {target}:{port} timed out")
        await asyncio.sleep(self.delay(target, source.name))
        if not self.is_listening(target, port):
            raise ConnectionRefusedError(111, f"{target}:{port} refused")
        server_factory, server_context = self._listeners[target, port]
        connection = Connection(self, source, server_context[HOST])
        self._connections[connection] = None
        protocol = factory()
        server_protocol = server_context.run(server_factory)
        connection.far.bind(server_protocol, server_context.copy())
        connection.near.bind(protocol, contextvars.copy_context())
        # The protocol has its transport before its maker goes on, as asyncio does it.
        await asyncio.sleep(0)
        return connection.near, protocol

    def forget(self, connection: Connection) -> None:
        """Take note that a connection has ended on both sides."""
        self._connections.pop(connection, None)


class SimulatedServer(asyncio.AbstractServer):
    """A listening port."""

    def __init__(self, network: Network, name: str, port: int) -> None:
        self._network = network
        self._address = (name, port)

    @property
    def sockets(self) -> tuple["SimulatedServer"]:
        """Itself: there is one, and all that is asked of it is its name."""
        return (self,)

    def getsockname(self) -> tuple[str, int]:
        """Return host and port."""
        return self._address

    def close(self) -> None:
        """Stop listening."""
        self._network.close_port(*self._address)

    def is_serving(self) -> bool:
        """Whether the port is open."""
        return self._network.is_listening(*self._address)

    def get_loop(self) -> asyncio.AbstractEventLoop:
        """Return the simulated loop."""
        return self._network.loop

    async def start_serving(self) -> None:
        """Open the port, if it was taken only."""
        self._network.open_port(*self._address)

    async def serve_forever(self) -> None:
        """Serve until cancelled."""
        await asyncio.Event().wait()

    async def wait_closed(self) -> None:
        """Return at once."""
