"""DescribeCluster (KIP-700) (API key 60)."""

from typing import ClassVar

from ballast.protocol.schema import (
    Bool,
    Int16,
    Int32,
    Message,
    NullableString,
    String,
    Versions,
    WireStruct,
)


class DescribeClusterRequest(Message, frozen=True, gc=False, kw_only=True):
    """Ask who is in the cluster."""

    API_KEY: ClassVar[int] = 60
    VERSIONS: ClassVar[Versions] = Versions(0, 0)
    FLEXIBLE_FROM: ClassVar[int] = 0

    include_cluster_authorized_operations: Bool = False


class DescribeClusterBroker(WireStruct, frozen=True, gc=False, kw_only=True):
    """A live broker."""

    broker_id: Int32 = 0
    host: String = ""
    port: Int32 = 0
    rack: NullableString = None


class DescribeClusterResponse(Message, frozen=True, gc=False, kw_only=True):
    """The cluster's id, controller and brokers."""

    API_KEY: ClassVar[int] = 60
    VERSIONS: ClassVar[Versions] = Versions(0, 0)
    FLEXIBLE_FROM: ClassVar[int] = 0

    throttle_time_ms: Int32 = 0
    error_code: Int16 = 0
    error_message: NullableString = None
    cluster_id: String = ""
    controller_id: Int32 = -1
    brokers: tuple[DescribeClusterBroker, ...] = ()
    cluster_authorized_operations: Int32 = -(2**31)
