"""`ballast demo`: a cluster, a load, faults and a reassignment on this machine, on one screen.

Nothing here is used by the product's other commands.
"""
