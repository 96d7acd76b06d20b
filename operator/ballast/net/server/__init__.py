"""The server side of Kafka's protocol: connections, their limits, and responses in order.

Requests are bytes here; what they mean is decided by whoever creates the `Server` with a handler.
Clients are in `net.client`.
"""
