"""The optimiser: chooses replicas to move and the brokers that receive them.

`optimize` runs the steps in order: select replicas, assign vacancies, balance bytes, remove
detours, and solve exactly what is small. Targets come from `problem`; leaders are chosen
afterwards.
"""
