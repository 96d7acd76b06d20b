"""Ballast runs Kafka-protocol brokers and moves their partitions safely.

The layers, top to bottom; a name may import only from layers below its own:

    cli                                  the command line: a table of commands
    commands                             what each command does, one module a command
    embedded | broker | candidate        processes: a local cluster, a broker, a candidate
    zk | net | storage                   adapters: ZooKeeper sessions, sockets, files
    controller | replication | purgatory | reassign | znodes | protocol
                                         cores: decisions and procedures, no I/O, no clock
    model                                frozen values that all of them share
"""
