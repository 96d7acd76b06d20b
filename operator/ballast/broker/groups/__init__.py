"""Consumer groups on this broker: the coordinator's adapters to logs, time and the offsets topic.

The rules of groups are in `ballast.coordinator`.
"""
