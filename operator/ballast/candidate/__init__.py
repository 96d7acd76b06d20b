"""One controller candidate: the process shell round `ballast.controller`.

Here: the session with ZooKeeper, the election, one queue of events and requests handled strictly
one at a time, resignation, the Kafka-protocol endpoint for controller-bound requests, metrics.
Not here: what the controller decides (see `ballast.controller`), znodes, sockets.
"""
