"""`ballast reassign`: the counterpart of kafka-reassign-partitions, option by option.

It executes, verifies, lists and cancels through the administration port.
"""
