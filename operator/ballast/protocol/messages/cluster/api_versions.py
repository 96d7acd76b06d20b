"""ApiVersions: which APIs and versions a broker serves (API key 18)."""

from typing import Annotated, ClassVar

from ballast.protocol.schema import Int16, Message, Versions, Wire, WireStruct


class ApiVersionsRequest(Message, frozen=True, gc=False, kw_only=True):
    """Ask what is served, and say which client asks."""

    API_KEY: ClassVar[int] = 18
    VERSIONS: ClassVar[Versions] = Versions(0, 3)
    FLEXIBLE_FROM: ClassVar[int] = 3

    client_software_name: Annotated[str, Wire("string", "3+", ignorable=True)] = ""
    client_software_version: Annotated[str, Wire("string", "3+", ignorable=True)] = ""


class ApiVersion(WireStruct, frozen=True, gc=False, kw_only=True):
    """The versions served of one API."""

    api_key: Int16 = 0
    min_version: Int16 = 0
    max_version: Int16 = 0


class SupportedFeatureKey(WireStruct, frozen=True, gc=False, kw_only=True):
    """A feature and the levels that this broker supports."""

    name: Annotated[str, Wire("string", "3+")] = ""
    min_version: Annotated[int, Wire("int16", "3+")] = 0
    max_version: Annotated[int, Wire("int16", "3+")] = 0


class FinalizedFeatureKey(WireStruct, frozen=True, gc=False, kw_only=True):
    """A feature and its level in the cluster."""

    name: Annotated[str, Wire("string", "3+")] = ""
    max_version_level: Annotated[int, Wire("int16", "3+")] = 0
    min_version_level: Annotated[int, Wire("int16", "3+")] = 0


class ApiVersionsResponse(Message, frozen=True, gc=False, kw_only=True):
    """The versions served; its header is of version 0 in every version."""

    API_KEY: ClassVar[int] = 18
    VERSIONS: ClassVar[Versions] = Versions(0, 3)
    FLEXIBLE_FROM: ClassVar[int] = 3

    error_code: Int16 = 0
    api_keys: tuple[ApiVersion, ...] = ()
    throttle_time_ms: Annotated[int, Wire("int32", "1+", ignorable=True)] = 0
    supported_features: Annotated[
        tuple[SupportedFeatureKey, ...], Wire("[]struct", "3+", tag=0, ignorable=True)
    ] = ()
    finalized_features_epoch: Annotated[int, Wire("int64", "3+", tag=1, ignorable=True)] = -1
    finalized_features: Annotated[
        tuple[FinalizedFeatureKey, ...], Wire("[]struct", "3+", tag=2, ignorable=True)
    ] = ()
