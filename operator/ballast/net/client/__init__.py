"""One connection to a broker as its client: framing, negotiation of versions, reconnecting.

Which broker is asked, and what, is decided by the packages above.
"""
