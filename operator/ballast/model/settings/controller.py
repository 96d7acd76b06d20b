"""Settings shared by brokers and controller candidates, of candidates only, and of KRaft."""

from typing import Final

from ballast.model.settings.addresses import parse_host_port
from ballast.model.settings.keys import (
    BOOLEAN,
    INT,
    LIST,
    LONG,
    RESERVED,
    STRING,
    UNSERVED,
    ConfigKey,
    harmless,
    honoured,
    refused,
)
from ballast.model.settings.values import SHORT_MAX

_TOPICS: Final = (
    honoured(
        "num.partitions",
        INT,
        1,
        "Partitions of a topic whose creation request does not specify a number.",
        least=1,
    ),
    honoured(
        "default.replication.factor",
        INT,
        1,
        "Replicas of a topic whose creation request does not specify a number.",
        least=1,
        most=SHORT_MAX,
    ),
    honoured(
        "auto.create.topics.enable",
        BOOLEAN,
        "true",
        "Whether a metadata request for a missing topic creates it.",
    ),
    honoured("delete.topic.enable", BOOLEAN, "true", "Whether topics can be deleted."),
)

_ELECTIONS: Final = (
    honoured(
        "unclean.leader.election.enable",
        BOOLEAN,
        "false",
        "Whether a replica outside the ISR may be elected when no in-sync replica is alive.",
        dynamic=True,
        for_all_brokers=True,
    ),
    honoured(
        "auto.leader.rebalance.enable",
        BOOLEAN,
        "true",
        "Whether the controller returns leadership to preferred replicas by itself.",
    ),
    honoured(
        "leader.imbalance.check.interval.seconds",
        LONG,
        300,
        "Interval of the check for leaders that are not the preferred replica.",
        least=1,
    ),
    honoured(
        "leader.imbalance.per.broker.percentage",
        INT,
        10,
        "Percentage of a broker's preferred partitions with another leader above which leadership"
        " returns.",
        least=0,
        most=100,
    ),
    honoured(
        "controller.socket.timeout.ms",
        INT,
        30000,
        "Time that a controller waits for a broker's response before it sends the request again.",
        least=1,
    ),
)

_NO_KRAFT: Final = "Clusters keep their metadata in ZooKeeper."
_KRAFT_TIME: Final = "It belongs to KRaft mode, which process.roles would enable."


def _quorum(name: str, default: int) -> ConfigKey:
    return harmless(f"controller.quorum.{name}.ms", INT, default, _KRAFT_TIME)


_KRAFT: Final = (
    refused("process.roles", LIST, "", _NO_KRAFT, broker_set=RESERVED),
    refused("controller.quorum.voters", LIST, "", _NO_KRAFT),
    refused("controller.listener.names", STRING, None, _NO_KRAFT, broker_set=UNSERVED),
    refused("node.id", INT, -1, _NO_KRAFT, broker_set=RESERVED),
    refused("metadata.log.dir", STRING, None, _NO_KRAFT, broker_set=RESERVED),
    harmless("broker.heartbeat.interval.ms", INT, 2000, _KRAFT_TIME),
    harmless("broker.session.timeout.ms", INT, 9000, _KRAFT_TIME),
    harmless("initial.broker.registration.timeout.ms", INT, 60000, _KRAFT_TIME),
    _quorum("append.linger", 25),
    _quorum("election.backoff.max", 1000),
    _quorum("election.timeout", 1000),
    _quorum("fetch.timeout", 2000),
    _quorum("request.timeout", 2000),
    _quorum("retry.backoff", 20),
)

ROWS: Final = (*_TOPICS, *_ELECTIONS, *_KRAFT)

CANDIDATE_ROWS: Final = (
    honoured(
        "controller.id",
        INT,
        None,
        "The candidate's id, unique in its cluster.",
        least=0,
        required=True,
    ),
    honoured(
        "controller.listener",
        STRING,
        None,
        "host:port on which brokers connect to the candidate when it is the controller.",
        parse=parse_host_port,
        required=True,
    ),
    honoured(
        "controller.advertised.listener",
        STRING,
        None,
        "host:port that brokers connect to; controller.listener by default.",
        parse=parse_host_port,
    ),
)
"""Ballast's own settings of a controller candidate, which a broker does not have."""
