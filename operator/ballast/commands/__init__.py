"""What each word of the command line does: one module a command, each with ``main(...) -> int``.

Here: reading options and files, wiring a process together, printing, exit codes.
Not here: what a process does once it is wired, and any rule of Kafka's.
"""
