"""kazoo behind the port `zk.client.ZooKeeperClient`: connection, session, requests, watches.

Only modules of this package import kazoo's client for serving processes.
"""
