"""Message schemas of administration: topics, configs, ACLs, log directories, reassignments.

One module for each API, with fields and versions as Kafka's message definitions have them; no
behaviour.
"""
