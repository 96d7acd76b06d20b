"""The leader's half of replication: appends, fetches, high watermarks, ISR changes, purgatories.

The follower's half is in `broker.following`.
"""
