"""The decision of a reassignment's next step, a pure function of what was observed.

`decide` gives the order; the other modules are its parts: admission, batches, throttles, closing.
The steps are carried out by `reassign.reconcile`.
"""
