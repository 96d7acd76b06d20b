"""The life of one PartitionReassignment: validate, batch, throttle, verify, roll back, conditions.

Here: the manifest's values, the pure ``decide(spec, observed, memory) -> next step``, and the
straight-line procedure that reads the world, decides, acts and records, through
`ballast.reassign.ports` only. What a move must remember is durable before the change it describes.
Not here: Kafka's wire protocol, Kubernetes, files, clocks.
"""
