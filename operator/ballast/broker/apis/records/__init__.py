"""Handlers of requests for records: Produce, Fetch, offsets, epochs, deletion, producer ids.

One module for each API, as `dispatch` lists them.
"""
