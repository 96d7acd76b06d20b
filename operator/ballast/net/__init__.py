"""Sockets: the server of Kafka's protocol, channels to brokers, the admin client, HTTP, logs.

Here: asyncio transports and protocols, timeouts, backoff, pipelining, retries, and the translation
of the controller's requests and of the admin port into wire messages.
Not here: the meaning of requests (`ballast.broker`, `ballast.candidate`), ZooKeeper, files, wire
layouts (`ballast.protocol`).
"""
