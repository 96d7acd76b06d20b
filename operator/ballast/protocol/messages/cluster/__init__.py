"""Message schemas with which a client learns to know a cluster: versions, metadata, brokers.

One module for each API, with fields and versions as Kafka's message definitions have them; no
behaviour.
"""
