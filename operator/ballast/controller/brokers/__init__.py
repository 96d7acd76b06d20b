"""What the controller does when brokers start, fail, shut down or lose a log directory.

Partition and replica states change through `controller.machines`.
"""
