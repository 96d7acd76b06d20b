"""All mutants by name."""

from tests.simulation.mutants import of_brokers, of_disks, of_the_controller
from tests.simulation.mutants.mutant import Mutant

MUTANTS: dict[str, Mutant] = {
    mutant.name: mutant
    for mutant in (*of_the_controller.MUTANTS, *of_brokers.MUTANTS, *of_disks.MUTANTS)
}
