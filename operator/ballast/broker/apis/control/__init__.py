"""Handlers of the controller's requests to a broker, and of a broker's to the controller.

One module for each API, as `dispatch` lists them. Handlers decode, ask the broker's context, and
answer.
"""
