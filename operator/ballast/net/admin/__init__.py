"""The admin port of a reassignment, over Kafka's protocol, to any cluster.

One module for each kind of request: topics, configs, log directories, load, snapshots.
`cluster_connections` sends the requests. Nothing here decides what to move.
"""
