"""Leader elections on request, and the periodic rebalance to preferred leaders.

The selectors themselves are in `controller.machines.elections`.
"""
