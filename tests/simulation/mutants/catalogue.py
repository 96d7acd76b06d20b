"""All mutants by name."""

from tests.simulation.mutants import (
    broker_bugs,
    client_bugs,
    controller_bugs,
    disk_bugs,
    flush_bugs,
    reassignment_bugs,
    zookeeper_bugs,
)
from tests.simulation.mutants.mutant import Mutant

MODULES = (
    controller_bugs,
    reassignment_bugs,
    broker_bugs,
    client_bugs,
    disk_bugs,
    flush_bugs,
    zookeeper_bugs,
)

MUTANTS: dict[str, Mutant] = {mutant.name: mutant for part in MODULES for mutant in part.MUTANTS}
