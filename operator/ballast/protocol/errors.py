"""What can go wrong between bytes and messages."""

from typing import ClassVar

from ballast.protocol.error_codes import ErrorCode


class ProtocolError(Exception):
    """Any failure of this package."""


class DecodeError(ProtocolError):
    """Bytes that are no message of the claimed type and version; the sender is at fault."""


class EncodeError(ProtocolError):
    """A message that the asked version cannot carry; the caller is at fault."""


class UnsupportedVersion(ProtocolError):
    """A version of a known API that is not served; Kafka closes the connection."""

    def __init__(self, api_key: int, api_version: int) -> None:
        super().__init__(f"API key {api_key} has no version {api_version} here")
        self.api_key = api_key
        self.api_version = api_version


class UnknownApiKey(ProtocolError):
    """A request with an API key that is not served."""

    def __init__(self, api_key: int) -> None:
        super().__init__(f"API key {api_key} is not served")
        self.api_key = api_key


class RecordsError(ProtocolError):
    """Records that must not be appended; `error_code` is the answer for their partition."""

    error_code: ClassVar[ErrorCode] = ErrorCode.CORRUPT_MESSAGE


class CorruptRecords(RecordsError):
    """Bytes that are no whole batches: short, of a lying length, or with a wrong checksum."""


class BatchTooLarge(RecordsError):
    """One batch is larger than the topic's ``max.message.bytes``."""

    error_code: ClassVar[ErrorCode] = ErrorCode.MESSAGE_TOO_LARGE


class UnsupportedMagic(RecordsError):
    """Records of the formats before Kafka 0.11 (magic 0 and 1)."""

    error_code: ClassVar[ErrorCode] = ErrorCode.UNSUPPORTED_FOR_MESSAGE_FORMAT


class InvalidTimestamp(RecordsError):
    """A batch whose times, or whose type of time, the topic does not take."""

    error_code: ClassVar[ErrorCode] = ErrorCode.INVALID_TIMESTAMP


class InvalidRecords(RecordsError):
    """Whole and unharmed batches that say what a producer may not say."""

    error_code: ClassVar[ErrorCode] = ErrorCode.INVALID_RECORD
