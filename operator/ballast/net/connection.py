"""One client's connection: frames in, answers out, in order and within limits."""

import asyncio


class Connection(asyncio.BufferedProtocol):
    """The protocol of one accepted connection (see `ballast.net.server.Server`)."""
