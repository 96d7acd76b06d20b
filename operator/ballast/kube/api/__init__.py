"""The Kubernetes API: client, credentials, watches, leader election, events, status writes.

Ports and their adapters. Nothing here knows what the objects are for.
"""
