"""The generation of plans as a specification: what to generate, from which load, on which engine.

Documents and names only. Plans are computed by `ballast.planner`, in process or on Spark.
"""
