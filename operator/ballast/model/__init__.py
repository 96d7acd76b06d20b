"""Frozen values shared by every package: ids, assignments, brokers, topics, manifests' fields.

Here: immutable values and the arithmetic on them. Not here: I/O, clocks, encodings, policies.
"""
