"""ZooKeeper: sessions, watches, conditional writes, election and registration.

Here: the port `ballast.zk.client` and its kazoo adapter (the only importer of kazoo), and the
stores that translate values of `ballast.model` into znodes and back, each write conditional.
Not here: what to write and when (`ballast.controller`, `ballast.replication`), the znodes' paths
and JSON (`ballast.znodes`), tasks and event queues (the processes own them).
"""
