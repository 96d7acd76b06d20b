"""The operator process: kopf registrations, the Kubernetes API, manifests applied, status written.

The only importer of kopf and aiohttp. Decisions belong to `ballast.reassign`, `ballast.brokersets`
and `ballast.planner`; what is here reads the world for them and carries out what they say.
"""
