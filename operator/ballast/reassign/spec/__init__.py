"""The specification of a PartitionReassignment as typed values, and how manifests are parsed.

Errors name the field. Plans themselves are in `reassign.plan`, generated manifests in `generate`.
"""
