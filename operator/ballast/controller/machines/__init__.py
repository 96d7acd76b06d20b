"""The state machines of partitions and replicas, and what their transitions need.

Leader selectors, LeaderAndIsr updates, the request batch, and topic deletion, which is driven by
them.
"""
