"""The replica manager and its work on partitions: append, read, wait, report to ZooKeeper.

Following other brokers is in `broker.following`, background work on logs in `broker.maintenance`.
"""
