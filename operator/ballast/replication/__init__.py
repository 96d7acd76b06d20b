"""Kafka's replication rules for one partition: leader's view, follower's view, epochs, quota.

Here: decisions over values, and the small state they need. Time comes in as ``now``: seconds, as a
float, on the caller's monotonic clock. Not here: logs, sockets, ZooKeeper, timers, wire messages.
"""
