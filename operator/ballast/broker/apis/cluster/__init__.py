"""Handlers of requests about the cluster: versions, metadata, brokers.

One module for each API, as `dispatch` lists them.
"""
