"""Observations of a broker set and its cluster, and what follows from them.

Here are the observed values (`observation`) and pure functions on them: partition counts,
which brokers may stop, whether a pod is ready, whether volumes have room. No step is decided here.
"""
