"""`ballast plan`: snapshots, generating and showing plans as files.

Plans are computed by `ballast.planner`.
"""
