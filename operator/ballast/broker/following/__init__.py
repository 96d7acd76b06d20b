"""Replication as a follower: roles from the controller, fetchers for each leader, truncation.

The leader's half of replication is in `broker.replicas`.
"""
