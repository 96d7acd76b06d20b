"""Partitions on disk: segments, indexes, recovery, checkpoints, log directories.

Everything here speaks Kafka's own file formats (2.8.2), so that Kafka's dump tool reads them. All
file access goes through the door in `files`; nothing here knows leaders, ISRs, requests or the
network, reads a clock, or starts a task.
"""
