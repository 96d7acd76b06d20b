"""One PartitionReassignment: validate, batch, throttle, verify, roll back, conditions.

Here: the manifest's values; the pure ``decide(input) -> next step``; and the reconciler, which
observes the cluster, decides, acts and reports, through `ballast.reassign.ports` only. What undoes
a step is saved before it. Not here: Kafka's wire protocol, Kubernetes, files, clocks.
"""
