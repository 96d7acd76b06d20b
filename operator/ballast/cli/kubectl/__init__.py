"""`kubectl ballast`: the plugin that shows and approves reassignments of a Kubernetes cluster.

It talks to the API server by kubectl itself and prints tables.
"""
