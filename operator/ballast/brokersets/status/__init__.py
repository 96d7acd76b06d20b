"""What the status of a BrokerSet says: conditions, the states of its brokers, the document itself.

Pure functions from observations to status. No step is decided here.
"""
