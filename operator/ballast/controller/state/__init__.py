"""The controller's state and vocabulary: context, states, events, control requests, ports, options.

Values and tables only; no procedure is here.
"""
