"""Plans that the operator generates: snapshot, engine (in process or Spark), approval, status.

The planner itself is `ballast.planner`.
"""
