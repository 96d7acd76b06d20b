"""Handlers of administration requests: topics, configs, ACLs, log directories, reassignments.

One module for each API, as `dispatch` lists them. Handlers decode, ask the broker's context, and
answer.
"""
