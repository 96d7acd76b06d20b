"""What is observed of a broker set and its cluster, and what follows from it by counting.

Here are the observed values (`observed`) and pure questions about them: how many partitions a
broker has, which brokers may stop, whether a pod is ready, how much room volumes have. Nothing here
decides.
"""
