"""Kafka's replication rules for one partition: as leader, as follower, epochs, quota.

Here: decisions over values, and the small state they need. Time is the argument ``now``: seconds as
a float on the caller's monotonic clock. Not here: logs, sockets, ZooKeeper, timers, wire messages.
"""
