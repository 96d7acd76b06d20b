"""Consumer groups on this broker: adapters of the coordinator to logs, time and the offsets topic.

The rules of groups are in `ballast.coordinator`.
"""
