"""Handlers of requests of consumer groups and for committed offsets.

One module for each API, as `dispatch` lists them. Handlers decode, ask the coordinator, and answer.
"""
