"""Planning in blocks: summaries of blocks, quotas for each, and balancing across blocks.

A cluster that is too large for one pass is cut into blocks, which are planned independently, in one
process or on Spark. How one block is planned is in `placement`.
"""
