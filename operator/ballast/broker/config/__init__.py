"""The broker's configuration: files and dynamic configs, parsed into typed values.

Which properties exist is said by the table in `model.settings`; here is what the broker makes of
them.
"""
