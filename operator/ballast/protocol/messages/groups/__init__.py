"""Message schemas of consumer groups and their committed offsets.

One module for each API, with fields and versions as Kafka's message definitions have them; no
behaviour.
"""
