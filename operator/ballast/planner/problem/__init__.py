"""The placement problem: what a strategy wants of each broker, and within which limits.

Constraints (racks, capacities, cordoned brokers, limits on moves), targets of replicas and bytes,
and the strategies that set them. How replicas are placed is in `placement`.
"""
