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
    documented,
    harmless,
    honoured,
    refused,
)
from ballast.model.settings.values import SHORT_MAX

_TOPICS: Final = {
    honoured(
        "num.partitions", INT, 1, least=1
    ): "Partitions of a topic whose creation request does not specify a number.",
    honoured(
        "default.replication.factor", INT, 1, least=1, most=SHORT_MAX
    ): "Replicas of a topic whose creation request does not specify a number.",
    honoured(
        "auto.create.topics.enable", BOOLEAN, "true"
    ): "Whether a metadata request for a missing topic creates it.",
    honoured("delete.topic.enable", BOOLEAN, "true"): "Whether topics can be deleted.",
}

_ELECTIONS: Final = {
    honoured(
        "unclean.leader.election.enable", BOOLEAN, "false", dynamic=True, for_all_brokers=True
    ): "Whether a replica outside the ISR may be elected when no in-sync replica is alive.",
    honoured(
        "auto.leader.rebalance.enable", BOOLEAN, "true"
    ): "Whether the controller returns leadership to preferred replicas by itself.",
    honoured(
        "leader.imbalance.check.interval.seconds", LONG, 300, least=1
    ): "Interval of the check for leaders that are not the preferred replica.",
    honoured("leader.imbalance.per.broker.percentage", INT, 10, least=0, most=100): (
        "Percentage of a broker's preferred partitions with another leader above which leadership"
        " returns."
    ),
    honoured(
        "controller.socket.timeout.ms", INT, 30000, least=1
    ): "Time that a controller waits for a broker's response before it sends the request again.",
}

_NO_KRAFT: Final = "Clusters keep their metadata in ZooKeeper."
_KRAFT_TIME: Final = "It belongs to KRaft mode, which process.roles would enable."


def _quorum(name: str, default: int) -> ConfigKey:
    return harmless(f"controller.quorum.{name}.ms", INT, default)


_KRAFT: Final = {
    refused("process.roles", LIST, "", broker_set=RESERVED): _NO_KRAFT,
    refused("controller.quorum.voters", LIST, ""): _NO_KRAFT,
    refused("controller.listener.names", STRING, None, broker_set=UNSERVED): _NO_KRAFT,
    refused("node.id", INT, -1, broker_set=RESERVED): _NO_KRAFT,
    refused("metadata.log.dir", STRING, None, broker_set=RESERVED): _NO_KRAFT,
    harmless("broker.heartbeat.interval.ms", INT, 2000): _KRAFT_TIME,
    harmless("broker.session.timeout.ms", INT, 9000): _KRAFT_TIME,
    harmless("initial.broker.registration.timeout.ms", INT, 60000): _KRAFT_TIME,
    _quorum("append.linger", 25): _KRAFT_TIME,
    _quorum("election.backoff.max", 1000): _KRAFT_TIME,
    _quorum("election.timeout", 1000): _KRAFT_TIME,
    _quorum("fetch.timeout", 2000): _KRAFT_TIME,
    _quorum("request.timeout", 2000): _KRAFT_TIME,
    _quorum("retry.backoff", 20): _KRAFT_TIME,
}

ROWS: Final = documented(_TOPICS | _ELECTIONS | _KRAFT)

CANDIDATE_ROWS: Final = documented(
    {
        honoured(
            "controller.id", INT, None, least=0, required=True
        ): "The candidate's id, unique in its cluster.",
        honoured(
            "controller.listener", STRING, None, parse=parse_host_port, required=True
        ): "host:port on which brokers connect to the candidate when it is the controller.",
        honoured(
            "controller.advertised.listener", STRING, None, parse=parse_host_port
        ): "host:port that brokers connect to; controller.listener by default.",
    }
)
"""Ballast's own settings of a controller candidate, which a broker does not have."""
