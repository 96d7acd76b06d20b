"""Replication throttles as Kafka's configs express them: rates of brokers and lists of replicas.

Pure values. When throttles are set and restored is decided in `decision`.
"""
