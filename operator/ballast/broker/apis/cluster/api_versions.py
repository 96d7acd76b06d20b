"""ApiVersions (18), versions 0-3.

Behaviour:
* Advertises the served keys only, each from version 0: librdkafka before 2.11.1 asks for exact
  old versions, and Ballast's codecs hold them all.
* A version that is not known is answered with version 0 and UNSUPPORTED_VERSION, and names the
  versions of ApiVersions alone, so that the client can ask again.

Version notes:
* v3 is flexible, but the response's header stays version 0 (KIP-511).
* v3 names the client's software; a name outside KIP-511's grammar is INVALID_REQUEST.
"""

import re
from collections.abc import Iterable
from typing import Final

from ballast.broker.apis.context import BrokerContext, RequestInfo
from ballast.protocol.api_keys import APIS, ApiKey
from ballast.protocol.error_codes import ErrorCode
from ballast.protocol.messages.cluster.api_versions import (
    ApiVersion,
    ApiVersionsRequest,
    ApiVersionsResponse,
)

SERVED_KEYS: Final = tuple(ApiKey)
"""The keys that a broker answers: all that Ballast's protocol knows."""

_SOFTWARE_NAME: Final = re.compile(r"[a-zA-Z0-9](?:[a-zA-Z0-9\-.]*[a-zA-Z0-9])?")


def handle(
    _context: BrokerContext, request: ApiVersionsRequest, info: RequestInfo
) -> ApiVersionsResponse:
    """Answer with every served key."""
    if info.version >= 3 and not (
        _SOFTWARE_NAME.fullmatch(request.client_software_name)
        and _SOFTWARE_NAME.fullmatch(request.client_software_version)
    ):
        return ApiVersionsResponse(error_code=ErrorCode.INVALID_REQUEST, api_keys=())
    return ApiVersionsResponse(error_code=ErrorCode.NONE, api_keys=_ranges(SERVED_KEYS))


def unsupported_version() -> ApiVersionsResponse:
    """Return the answer, to be written as version 0, to a version that is not known."""
    return ApiVersionsResponse(
        error_code=ErrorCode.UNSUPPORTED_VERSION, api_keys=_ranges((ApiKey.API_VERSIONS,))
    )


def _ranges(keys: Iterable[ApiKey]) -> tuple[ApiVersion, ...]:
    return tuple(
        ApiVersion(
            api_key=key, min_version=APIS[key].min_version, max_version=APIS[key].max_version
        )
        for key in sorted(keys)
    )
