"""The broker as a member of its cluster: identity, ZooKeeper session, controller link, metadata.

What the cluster knows of this broker and this broker of the cluster. No replica is touched here.
"""
