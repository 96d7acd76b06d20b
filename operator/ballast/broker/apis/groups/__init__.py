"""Handlers of requests about consumer groups and committed offsets.

One module for each API, as `dispatch` lists them. The coordinator executes them.
"""
