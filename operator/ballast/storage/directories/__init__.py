"""Log directories: which logs they hold, their failures, and replicas that move between them.

What is inside a log belongs to `storage.log`.
"""
