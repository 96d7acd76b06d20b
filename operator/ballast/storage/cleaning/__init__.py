"""Log compaction: which batches survive, the cleaned segments, and the cleaner's checkpoints.

Retention by time and size is in `storage.log`.
"""
