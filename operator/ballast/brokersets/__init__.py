"""A broker set's life: desired resources, scale-in, rolling restart, readiness, disruption, status.

Pure decisions over frozen values: no Kubernetes client, no clock, no I/O. `ballast.kube` reads the
world for them and carries out what they say.
"""
