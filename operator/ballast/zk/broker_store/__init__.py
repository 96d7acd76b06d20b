"""A broker's view of ZooKeeper: its registration, configs, and the partitions assigned to it.

Nothing here needs the controller's epoch.
"""
