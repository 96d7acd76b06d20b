from ballast.planner.explain.target import Target
from ballast.reassign.plan.lines import MAX_PARTITIONS_PER_LINE, LogDirMove
from ballast.reassign.plan.planned_lines import planned_lines
from tests.unit.planner.builders import unracked
from tests.unit.planner.log_dir_builders import one_broker


def test_a_plan_is_cut_into_canonical_lines() -> None:
    """Each line of a topic but its last has as many partitions as the format says."""
    rows = [[0]] * (2 * MAX_PARTITIONS_PER_LINE + 1)
    cluster = unracked(2, rows)
    lines = list(planned_lines(cluster, Target(replicas=cluster.replicas + 1)))
    assert [len(line.partitions) for line in lines] == [1000, 1000, 1]
    assert lines[2].partitions == (2000,)
    assert (lines[2].origins, lines[2].targets) == (((0,),), ((1,),))


def test_ways_between_directories_are_in_their_lines() -> None:
    cluster = one_broker([10, 20], [])
    assert cluster.log_dirs is not None
    table = cluster.log_dirs.copy()
    table[1] = 1
    (line,) = planned_lines(cluster, Target(replicas=cluster.replicas, log_dirs=table))
    assert line.encode() == (
        b'{"topic":"t","partitions":[1],"from":[[1]],"to":[[1]],"logDirs":[[[1,"/0","/1"]]]}'
    )
    assert line.log_dirs == ((LogDirMove(1, "/0", "/1"),),)
