"""The explanation of a plan: what it moves, why, and how the cluster looks before and after.

Reads plans and snapshots and changes neither.
"""
