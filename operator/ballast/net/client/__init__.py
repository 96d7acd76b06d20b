"""One connection to a broker as its client: framing, negotiation of versions, reconnecting.

The packages above decide which broker gets which request.
"""
