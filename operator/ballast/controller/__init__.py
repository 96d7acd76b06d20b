"""The Kafka controller of a ZooKeeper-mode cluster: decisions and procedures.

Here: the state tables of partitions and replicas, elections, failover, brokers up and down,
controlled shutdown, topic creation and deletion, and reassignment (phases U, A and B).
Decisions are pure functions over `ballast.model`; procedures are straight-line ``async def``
methods that act through `ballast.controller.state.ports` only.
Not here: znodes' JSON, wire messages, sockets, clocks, event queues (see `ballast.candidate`).
"""
