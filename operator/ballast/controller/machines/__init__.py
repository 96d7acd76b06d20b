"""The state machines of partitions and replicas, and what their transitions need.

Here: leader selection, updates of LeaderAndIsr, the batch of control requests, topic deletion, and
`components`, the one value through which all procedures get these.
"""
