"""The broker as a member of its cluster: identity, ZooKeeper session, controller link, metadata.

Nothing here changes a replica.
"""
