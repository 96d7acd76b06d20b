"""The steps that a broker set can need next, and the input of the decision.

Here are the decision's input, the step types, and the rules of rolling updates, scaling,
rebalancing and the ZooKeeper ensemble. `brokersets.decide` puts them in order; carrying out is done
in `kube`.
"""
