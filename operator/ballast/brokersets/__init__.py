"""A broker set: resources, scale-in, rolling updates, readiness, disruption budgets, status.

Pure decisions over frozen values: no Kubernetes client, no clock, no I/O. `ballast.kube` reads the
objects and the cluster for them, and carries out the steps that they return.
"""
