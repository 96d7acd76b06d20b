"""The program's own log, written into the trace of a run."""

import logging

from tests.simulation.loop import SimulatedLoop


class TraceHandler(logging.Handler):
    """Writes the program's own log into the trace."""

    def __init__(self, loop: SimulatedLoop) -> None:
        super().__init__()
        self._loop = loop

    def emit(self, record: logging.LogRecord) -> None:
        text = f"{record.name.removeprefix('ballast.')}: {record.getMessage()}"
        self._loop.note(text)
