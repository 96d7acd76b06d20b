"""Background work on logs: cleaning, retention, flushes, moves between directories, load samples.

Each runs as a task beside requests. Nothing here answers a request.
"""
