"""What can be wrong with a znode's content."""


class ZnodeError(Exception):
    """A znode cannot be read. Its content is someone else's: ignore it, report it, go on."""

    def __init__(self, path: str, field: str, reason: str) -> None:
        super().__init__(f"{path}: {field or 'document'}: {reason}")
        self.path = path
        self.field = field
        self.reason = reason
