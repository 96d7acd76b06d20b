"""The command line: options of each command, and the processes and tools that they run.

`app` and `kubernetes` declare commands; each subpackage carries out one family of them. Commands
choose the event loop and print; decisions and protocols belong to the packages below.
"""
