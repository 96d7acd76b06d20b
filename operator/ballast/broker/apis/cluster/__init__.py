"""Handlers of requests that tell a client about the cluster: versions, metadata, brokers.

One module for each API, as `dispatch` lists them. Handlers decode, ask the broker's context, and
answer.
"""
