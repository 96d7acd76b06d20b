"""Controller candidates that the operator runs for its broker sets, and their metrics.

The candidate itself is `ballast.candidate`.
"""
