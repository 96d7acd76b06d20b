"""Message schemas of records: Produce, Fetch, offsets, epochs, deletion, producer ids.

One module for each API, with fields and versions as Kafka's message definitions have them; no
behaviour.
"""
