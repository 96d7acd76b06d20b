"""Sockets: the server of Kafka-protocol frames, channels to brokers, the admin client, HTTP, logs.

Here: asyncio transports and protocols, timeouts, backoff, pipelining, retries, and the translation
of the controller's commands and of the reassignment's port into wire messages.
Not here: what a request means (see `ballast.broker`, `ballast.candidate`), ZooKeeper, files,
wire layouts (see `ballast.protocol`).
"""
