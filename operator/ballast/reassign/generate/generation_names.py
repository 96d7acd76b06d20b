"""Names, labels and keys of the objects of a generated plan.

The names of all objects of one attempt begin with its *plan name*: ``<plan name>-snapshot-0000``
and so on, the job ``<plan name>``, ``<plan name>-plan-0000`` and so on, and last the index
``<plan name>-plan``.
"""

import hashlib
import re

REASSIGNMENT_LABEL = "ballast.dev/reassignment"
SNAPSHOT_LABEL = "ballast.dev/snapshot"
"""On each chunk of a snapshot: the plan name of its attempt."""
PLAN_LABEL = "ballast.dev/plan"
"""On each chunk of a plan and on its index: the plan name of its attempt."""
CHUNK_LABEL = "ballast.dev/chunk"
CHUNKS_ANNOTATION = "ballast.dev/chunks"
"""On each chunk of a snapshot: the number of chunks."""
SNAPSHOT_DIGEST_ANNOTATION = "ballast.dev/snapshot-digest"
"""SHA-256 of the whole uncompressed snapshot: on its chunks, and on the plan made from it."""
SNAPSHOT_KEY = "snapshot.jsonl.gz"
SUMMARY_KEY = "summary"
INFEASIBLE_KEY = "infeasible"

_KEPT_OF_NAME = 30
_NOT_ALLOWED = re.compile(r"[^a-z0-9-]")


def plan_name(name: str, uid: str, attempt: int) -> str:
    """Return the name of an attempt's objects: a DNS-1035 label of less than 48 characters.

    The uid is part of it: a reassignment that is deleted and created again shares no objects.
    """
    stem = _NOT_ALLOWED.sub("-", name.lower())[:_KEPT_OF_NAME].strip("-")
    if not stem[:1].isalpha():
        stem = f"r-{stem}"
    short = hashlib.sha256(f"{name}/{uid}".encode()).hexdigest()[:8]
    return f"{stem}-{short}-{attempt}"


def snapshot_object(plan: str, number: int) -> str:
    """Return the name of the ConfigMap with a chunk of the snapshot."""
    return f"{plan}-snapshot-{number:04d}"


def plan_object(plan: str, number: int | None = None) -> str:
    """Return the name of the ConfigMap with a chunk of the plan, or of that with its index."""
    return f"{plan}-plan" if number is None else f"{plan}-plan-{number:04d}"
