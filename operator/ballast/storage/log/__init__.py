"""One log: segments, indexes, recovery, producer snapshots, and the validation of appends.

Directories that hold many logs are in `storage.directories`, compaction in `storage.cleaning`.
"""
