"""The response to ApiVersions (18), the first request on each connection of a client."""

from collections.abc import Collection

from ballast.protocol.api_keys import APIS, ApiKey
from ballast.protocol.codec import decode
from ballast.protocol.error_codes import ErrorCode
from ballast.protocol.frames import RequestHeader, encode_response_parts
from ballast.protocol.messages.cluster.api_versions import (
    ApiVersion,
    ApiVersionsRequest,
    ApiVersionsResponse,
)
from ballast.protocol.schema import Records


def answer_api_versions(
    header: RequestHeader, body: Records, served: Collection[ApiKey]
) -> list[Records]:
    """Return the response that lists ``served``; raises `DecodeError`.

    An unknown version of the request is answered in version 0 with UNSUPPORTED_VERSION and the
    list, so that the client can ask again (KIP-511).
    """
    error, version = ErrorCode.NONE, header.api_version
    if ApiVersionsRequest.VERSIONS.has(version):
        decode(ApiVersionsRequest, version, body)
    else:
        error, version = ErrorCode.UNSUPPORTED_VERSION, 0
    response = ApiVersionsResponse(
        error_code=error,
        api_keys=tuple(
            ApiVersion(
                api_key=key, min_version=APIS[key].min_version, max_version=APIS[key].max_version
            )
            for key in sorted(served)
        ),
    )
    return encode_response_parts(header.correlation_id, response, version)
