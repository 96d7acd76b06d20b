"""The demonstration keeps what it promises."""

import re

from tests.interop.local_cluster import ballast
from tests.interop.ports import port_range

LAST_LINE = re.compile(
    r"demo: moved 9 partitions \((\d+) MB\) through 1 controller failover; "
    r"(\d+) records acknowledged, 0 lost, 0 duplicated"
)


def test_the_demo() -> None:
    with port_range() as base_port:
        ended = ballast("demo", "--base-port", str(base_port), timeout_s=110)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    said = LAST_LINE.fullmatch(ended.stdout.splitlines()[-1])
    assert said is not None, ended.stdout
    megabytes, records = map(int, said.groups())
    # Nine of twelve partitions have one replica on broker 3: each is moved once.
    assert megabytes >= 100
    assert records >= 190_000
