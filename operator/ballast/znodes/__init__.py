"""The znodes of a ZooKeeper-mode Kafka cluster: for each its path, encoding and decoding.

Here: one module per subtree, pure functions between bytes and `ballast.model` values, in Kafka
2.8.2's layout, key order and compactness. What cannot be read raises `ZnodeError`.
Not here: ZooKeeper calls, versions as conditions, policies about what is stored.
"""
