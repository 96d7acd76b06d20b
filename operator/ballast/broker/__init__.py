"""The broker process: leaders and followers of partitions, bound to disk, network and ZooKeeper.

Here: one module per API with their dispatch table, the replica manager and its fetchers, the
metadata cache, dynamic configs, the link to the controller, `wiring`, which creates all of it, and
`Broker`, which starts and stops it. Not here: rules of replication (`ballast.replication`), file
formats (`ballast.storage`), wire formats (`ballast.protocol`), znodes (`ballast.zk`), decisions of
the controller.
"""
