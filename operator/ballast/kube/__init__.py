"""The operator process: kopf, the Kubernetes API, and the reconcilers of both kinds.

The only importer of kopf and the Kubernetes client. Decisions belong to `ballast.reassign`,
`ballast.brokersets` and `ballast.planner`: this package reads the objects and clusters for them and
carries their steps out. An event takes this way:

    handlers ─► reconcilers.ReconcilerManager ─► runtime.work_queue ─► runtime.reconcile_loop
        ─► broker_sets.reconciler, or reassignments.reconciler ─► Result ─► runtime.reconcile_loop
"""
