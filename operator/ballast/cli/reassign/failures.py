"""How ``ballast reassign`` ends without success."""


class TerseFailure(Exception):
    """An end without success whose message stands for itself."""


class CommandFailed(Exception):
    """An end without success that is reported as ``Error: …``."""
