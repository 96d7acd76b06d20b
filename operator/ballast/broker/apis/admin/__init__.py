"""Handlers of administration requests: topics, configs, ACLs, log directories.

One module for each API, as `dispatch` lists them.
"""
