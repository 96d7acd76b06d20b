import pytest

from tests.unit.brokersets.builders import broker_set


@pytest.mark.parametrize(
    ("broker_id", "cordoned"),
    [(99, False), (100, False), (101, True), (102, False), (103, True), (4000, True)],
)
def test_who_gets_no_new_replicas(broker_id: int, cordoned: bool) -> None:
    spec = broker_set(brokerIdOffset=100, decommission={"brokerIds": [101]})
    assert spec.is_cordoned(broker_id) is cordoned


def test_nobody_is_cordoned_in_an_existing_cluster() -> None:
    spec = broker_set(bootstrapServers="k:9092", replicas=None, zookeeper=None, storage=None)
    assert spec.is_external
    assert not spec.is_cordoned(5)


def test_the_config_has_two_parts() -> None:
    config = {"min.insync.replicas": "2", "num.partitions": "6"}
    spec = broker_set(config=config, brokerIdOffset=1)
    assert spec.dynamic_config == {"min.insync.replicas": "2"}
    assert spec.static_config == {"num.partitions": "6"}
    assert spec.default_min_isr == 2
    assert broker_set().default_min_isr == 1
    assert [spec.broker_id(ordinal) for ordinal in range(3)] == [1, 2, 3]


def test_where_zookeeper_is() -> None:
    with_chroot, without = broker_set(), broker_set(zookeeper={"connect": "a:1,b:2"})
    assert with_chroot.zookeeper is not None
    assert without.zookeeper is not None
    assert with_chroot.zookeeper.connect_string == "zk:2181/prod"
    assert without.zookeeper.connect_string == "a:1,b:2"
