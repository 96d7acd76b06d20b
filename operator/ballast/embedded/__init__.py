"""A cluster of child processes on this machine: ZooKeeper, controller candidates, brokers.

Here: the layout of a cluster's folder, the children's command lines, their supervision, and the
workload that the demo runs against them. Not here: anything that a cluster on Kubernetes needs
too, and nothing of what the children themselves do.
"""
