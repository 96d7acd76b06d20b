"""The plan job: the pure planner over the blocks of a snapshot, on Spark.

DataFrame in, DataFrame out, by ``mapInArrow`` and without shuffles; no rule about placement, and
no user-defined function per row. The driver holds what each block tells of itself and its share,
never the cluster: only it reads the snapshot and writes the plan. Only this package imports
pyspark and pyarrow, and it never touches a broker or ZooKeeper.
"""
