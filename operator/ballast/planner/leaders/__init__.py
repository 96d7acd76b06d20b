"""The choice of preferred leaders, after replicas have their places.

Shares of leadership for each broker and the flow that reaches them. No replica moves here.
"""
