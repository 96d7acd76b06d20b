"""The parts that all reconcilers share: reconcile loop, work queue, context, metrics, health, logs.

Nothing here knows what a reassignment or a broker set needs next: a kind's reconciler returns a
`Result`, and `reconcile_loop` carries it out.
"""
