"""Partitions on disk: segments, indexes, recovery, checkpoints, log directories.

All files have Kafka's own formats (2.8.2), so that Kafka's dump tool reads them. All file access
goes through `files`. Nothing here knows leaders, ISRs, requests or the network, reads a clock, or
starts a task.
"""
