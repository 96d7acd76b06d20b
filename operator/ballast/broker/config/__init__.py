"""The broker's configuration: properties files and dynamic configs, parsed into typed values.

The properties, their defaults and parsers are the table in `model.settings`. Not here: reading
ZooKeeper and applying changes (`broker.config_watcher`).
"""
