"""Commands that run for long: broker, controller candidate, operator, ZooKeeper, `up`.

Configuration of pods and processes is read here; what a process does is in its own package.
"""
