"""All mutants by name."""

from tests.simulation.mutants import (
    of_brokers,
    of_clients,
    of_disks,
    of_flushes,
    of_reassignments,
    of_the_controller,
    of_zookeeper,
)
from tests.simulation.mutants.mutant import Mutant

MODULES = (
    of_the_controller,
    of_reassignments,
    of_brokers,
    of_clients,
    of_disks,
    of_flushes,
    of_zookeeper,
)

MUTANTS: dict[str, Mutant] = {mutant.name: mutant for part in MODULES for mutant in part.MUTANTS}
