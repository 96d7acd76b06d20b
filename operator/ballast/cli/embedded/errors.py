"""What can go wrong with a local cluster.

EmbeddedError
├── AlreadyRunning        another process holds the cluster's folder
├── PortInUse             something else listens where a child shall
├── ChildDidNotStart      a child died or stayed silent before it was ready
├── JavaMissing           no Java >= 17, or no ZooKeeper jars, can be found
└── WorkloadFailed        the demo's client gave up
"""


class EmbeddedError(Exception):
    """Root of the local cluster's errors; the message is meant for a person."""


class AlreadyRunning(EmbeddedError):
    """Another ``ballast up`` runs on this folder."""


class PortInUse(EmbeddedError):
    """A port of the cluster's range is taken; the message names it."""


class ChildDidNotStart(EmbeddedError):
    """A child process is not ready in time; the message names its log."""


class JavaMissing(EmbeddedError):
    """ZooKeeper cannot be started on this machine; the message says what is missing."""


class WorkloadFailed(EmbeddedError):
    """The client gave up on a record or could not read to the end."""
