import pytest

from ballast.ensemble.settings import (
    Addresses,
    ServerList,
    read_servers,
    server_id_of,
    static_text,
)

PLACES = Addresses(host_pattern="zk-{ordinal}.zk")


@pytest.mark.parametrize(("pod", "expected"), [("zk-0", 1), ("my-zk-2", 3), ("zk-12", 13)])
def test_the_id_is_the_ordinal_and_one(pod: str, expected: int) -> None:
    assert server_id_of(pod) == expected


@pytest.mark.parametrize("pod", ["", "zk", "zk-x", "zk-²"])
def test_a_pod_without_an_ordinal_is_none_of_an_ensemble(pod: str) -> None:
    with pytest.raises(ValueError, match="POD_NAME"):
        server_id_of(pod)


def test_a_server_is_a_voter_at_its_host() -> None:
    assert PLACES.server(2) == "zk-1.zk:2888:3888:participant;2181"
    apart = Addresses(host_pattern="127.0.0.{ordinal}", is_listening_everywhere=False)
    assert apart.server(3) == "127.0.0.2:2888:3888:participant;127.0.0.2:2181"


def test_a_pattern_without_an_ordinal_is_refused() -> None:
    with pytest.raises(ValueError, match="ordinal"):
        Addresses(host_pattern="zk.example")


def test_a_list_is_read_as_it_was_written() -> None:
    servers = ServerList(servers={1: PLACES.server(1), 3: PLACES.server(3)}, version=7)
    assert read_servers(servers.text.splitlines(), 2181) == servers.servers


def test_servers_of_a_configuration_of_before_get_role_and_client_port() -> None:
    lines = ("tickTime=1000", "server.1=a:2888:3888", "server.2=b:2888:3888:observer", "#server.3")
    assert read_servers(lines, 2181) == {
        1: "a:2888:3888:participant;2181",
        2: "b:2888:3888:observer;2181",
    }


def test_a_server_that_joins_is_an_observer_of_the_others() -> None:
    before = ServerList(servers={1: PLACES.server(1)}, version=9)
    joining = before.with_observer(2, PLACES.server(2))
    assert joining.servers == {
        1: "zk-0.zk:2888:3888:participant;2181",
        2: "zk-1.zk:2888:3888:observer;2181",
    }
    assert joining.version == 0


def test_a_server_alone_takes_learners_and_the_longest_session() -> None:
    lines = static_text("/data", "/data/list", is_listening_everywhere=True).splitlines()
    assert {
        "standaloneEnabled=false",
        "reconfigEnabled=true",
        "maxSessionTimeout=300000",
        "quorumListenOnAllIPs=true",
        "dynamicConfigFile=/data/list",
    } <= set(lines)
    assert not [line for line in lines if line.startswith(("clientPort", "server."))]
