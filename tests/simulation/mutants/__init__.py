"""Deliberate bugs, published defects of Kafka among them: the tests must find every one.

A mutant replaces one small thing of the product by the mistake that its name says, and names what
must find it: seeds of the simulation, random walks of a replica group, crashes after every effect,
or one named test, which passes without the bug. ``make mutants`` tries them all.
"""
