"""The server side of Kafka's protocol: connections, their limits, and responses in order.

Requests are bytes here; the handler of the `Server` decides what they mean. Clients are in
`net.client`.
"""
