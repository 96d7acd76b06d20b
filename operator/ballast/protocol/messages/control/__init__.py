"""Message schemas between controller and brokers.

One module for each API, with fields and versions as Kafka's message definitions have them; no
behaviour.
"""
