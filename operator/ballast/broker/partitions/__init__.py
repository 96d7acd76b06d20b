"""One replica on this broker: its log with the replica's role, reads that are checked, its load.

Many partitions together are managed in `broker.replicas`.
"""
