"""The broker process: a partition's leader and follower bound to disk, network and ZooKeeper.

Here: the dispatch table with one module per API, the replica manager and its fetchers, the
metadata cache, dynamic configs, the link to the controller, and `Broker`, which owns every task.
Not here: rules of replication (`ballast.replication`), file formats (`ballast.storage`), wire
formats (`ballast.protocol`), znodes (`ballast.zk`), decisions of the controller.
"""
