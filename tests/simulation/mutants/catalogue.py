"""All mutants by name."""

from tests.simulation.mutants import (
    of_brokers,
    of_disks,
    of_flushes,
    of_reassignments,
    of_the_controller,
    of_zookeeper,
)
from tests.simulation.mutants.mutant import Mutant

MUTANTS: dict[str, Mutant] = {
    mutant.name: mutant
    for part in (
        of_the_controller,
        of_reassignments,
        of_brokers,
        of_disks,
        of_flushes,
        of_zookeeper,
    )
    for mutant in part.MUTANTS
}
