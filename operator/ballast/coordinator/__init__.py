"""The coordinator of consumer groups: states, membership, rebalances, offsets, and their records.

Here: the behaviour of Kafka 2.8's group coordinator as decisions over groups in memory. Responses
go to the callback of each request; delayed operations and the log are the ports of
`ballast.coordinator.ports`; time and new member ids are functions passed in.
Not here: purgatories and timers, the log of ``__consumer_offsets``, wire requests, topics.
"""
