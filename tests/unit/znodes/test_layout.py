from ballast.znodes import layout


def test_parents_come_before_children() -> None:
    made: set[str] = {"/"}
    for path in layout.PERSISTENT_PATHS:
        assert (path.rpartition("/")[0] or "/") in made
        made.add(path)


def test_what_a_broker_of_kafka_2_8_makes_at_its_start() -> None:
    # In the order of goldens cluster-start, without ACLs.
    assert layout.PERSISTENT_PATHS[0] == "/consumers"
    assert len(set(layout.PERSISTENT_PATHS)) == len(layout.PERSISTENT_PATHS) == 17
