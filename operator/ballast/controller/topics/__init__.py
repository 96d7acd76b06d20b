"""Topics as the controller sees them: new topics, new partitions, and changes of their znodes.

Deletion is in `controller.machines`, since brokers and reassignments halt and resume it.
"""
