from ballast.brokersets.observation.observation import Cluster


def test_a_topics_own_minimum_goes_before_the_default() -> None:
    cluster = Cluster(live_brokers=frozenset(), default_min_isr=2, min_isr_by_topic={"t": 3})
    assert (cluster.min_isr("t"), cluster.min_isr("other")) == (3, 2)
