"""Where replicas should go: pure functions from a snapshot of the cluster to target assignments.

No I/O, no clock, no randomness but a seed: the same snapshot, options and seed give the same plan.
"""
