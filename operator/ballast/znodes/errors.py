"""What can be wrong with a znode's content."""


class ZnodeError(Exception):
    """The content of a znode is unreadable: callers log it and ignore the znode."""

    def __init__(self, path: str, field: str, reason: str) -> None:
        super().__init__(f"{path}: {field or 'document'}: {reason}")
        self.path = path
        self.field = field
        self.reason = reason
