"""The planner's input: a cluster as columns of numbers, and its text as lines and blocks.

Collecting, reading and writing snapshots belong here, and the rates of load that they carry.
Nothing here knows strategies or targets.
"""
