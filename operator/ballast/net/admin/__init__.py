"""The administration port of a reassignment, over Kafka's protocol to any cluster.

One module for each kind of question: topics, configs, log directories, load, snapshots. Requests
are sent by `cluster_connections`; nothing here decides what to move.
"""
