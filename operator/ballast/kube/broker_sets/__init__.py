"""The reconciler of BrokerSets: observe, decide (in `brokersets`), apply steps, return the status.

Each module is one of these parts or the adapter of one kind of object.
"""
