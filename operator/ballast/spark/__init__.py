"""The plan job: the planner of `ballast.planner` for large clusters, on Spark.

Spark serves as a process pool here. The rows of its DataFrames carry whole blocks: numpy columns,
pickled into BinaryType cells. Each step is a function over such rows (`block_tasks`) that runs on
the executors by ``mapInArrow``, without shuffles; between the steps the driver combines the block
summaries and hands out quotas (`spark_plan`). What Spark adds is memory and cores of several
machines, and retries of failed tasks. Only the load history is a table as Spark means it
(`load_rates`): joined, grouped and aggregated with DataFrame operations.

The driver never holds the cluster: it streams the snapshot and the plan, and holds a few numbers
per broker and block. No rule about placement is here. Only this package imports pyspark and
pyarrow, and it connects to no broker and no ZooKeeper, except that Spark's Kafka source reads the
load history.

"""
