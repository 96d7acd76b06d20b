"""A cluster of processes on this machine, for `ballast up` and `ballast demo`, and its workload.

It starts real processes and has no part in the operator.
"""
