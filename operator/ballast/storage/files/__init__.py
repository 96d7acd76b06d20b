"""The `Files` port, its implementation, and Kafka's small files.

Only modules of this package use the files of the operating system.
"""
