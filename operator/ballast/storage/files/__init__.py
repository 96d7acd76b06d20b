"""The one door to the disk: the `Files` port, its implementation, and small files on it.

Only modules of this package reach the operating system's files.
"""
