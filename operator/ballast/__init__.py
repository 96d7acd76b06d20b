"""Ballast runs Kafka-protocol brokers and moves their partitions safely.

The layers, top to bottom; a name may import only from layers below its own:

    cli                                  the command line, and what each command does
    kube                                 the operator: reconcilers, the Kubernetes API
    broker | candidate | ensemble | spark
                                         processes: a broker, a controller candidate, a member of
                                         the ZooKeeper ensemble, a plan job
    zk | net | storage                   adapters: ZooKeeper sessions, sockets, files
    controller | replication | coordinator | purgatory | reassign | brokersets | planner | znodes
    | protocol                           cores: decisions and procedures, no I/O, no clock
    model                                frozen values that all of them share
"""
