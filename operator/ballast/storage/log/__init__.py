"""One log: segments, indexes, recovery, producer snapshots, and the validation of appends.

Folders that hold many logs are in `storage.directories`, compaction in `storage.cleaning`.
"""
