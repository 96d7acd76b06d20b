"""What reconcilers share: context, work queue, options, metrics, health, logs, planner process.

Nothing here knows what a reassignment or a broker set needs next.
"""
