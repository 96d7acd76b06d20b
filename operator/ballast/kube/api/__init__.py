"""The Kubernetes API: client, credentials, watches, leader election, events, status writes.

Ports and their adapters over the `kubernetes` package. Nothing here knows what an object is for,
except `reassignment_object` and `cluster_address`, which read fields of Ballast's own kinds.
"""
