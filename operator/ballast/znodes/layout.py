"""The persistent znodes that every broker makes at its start if they are missing.

Source: `ZkData.PersistentZkPaths` of Kafka 2.8.2, in the recorded order, parents before children.
"""

BROKERS = "/brokers"
CONFIG = "/config"
ADMIN = "/admin"

PERSISTENT_PATHS = (
    "/consumers",
    BROKERS,
    "/brokers/ids",
    "/brokers/topics",
    CONFIG,
    "/config/changes",
    ADMIN,
    "/admin/delete_topics",
    "/brokers/seqid",
    "/isr_change_notification",
    "/latest_producer_id_block",
    "/log_dir_event_notification",
    "/config/topics",
    "/config/clients",
    "/config/users",
    "/config/brokers",
    "/config/ips",
)
