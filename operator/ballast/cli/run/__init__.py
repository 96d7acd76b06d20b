"""`ballast run`: the reconcile loop of a PartitionReassignment without Kubernetes.

The manifest is a file and the state a directory.
"""
