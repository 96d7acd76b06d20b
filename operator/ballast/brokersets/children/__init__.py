"""The Kubernetes objects that a BrokerSet owns, built from its specification.

Builders return plain objects; nothing here reads or writes them, and nothing decides when they are
applied.
"""
