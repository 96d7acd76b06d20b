"""Frozen values shared by every package: ids, assignments, leadership, brokers, topics.

Here: immutable values and the arithmetic on them. Not here: I/O, clocks, encodings, policies.
"""
