"""The controller's view of ZooKeeper: fenced writes, watches, and the znodes that it owns.

Every write carries the controller's epoch. What brokers read and write is in `zk.broker_store`.
"""
