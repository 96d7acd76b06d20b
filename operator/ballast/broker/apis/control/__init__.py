"""Handlers of requests of the controller: LeaderAndIsr, StopReplica, UpdateMetadata.

One module for each API, as `dispatch` lists them.
"""
