"""JSON documents of znodes: compact on the way out, checked against a schema on the way in.

Schemas are `msgspec.Struct` classes. Whatever bytes a hostile hand put into a znode, reading them
either gives a value of the schema or raises `ZnodeError` with the path and the field.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Annotated, Any, Generic, TypeVar

import msgspec

from ballast.model.ids import TopicPartition
from ballast.model.settings.values import INT_MAX
from ballast.model.topics import InvalidTopicName, check_topic_name
from ballast.znodes.errors import ZnodeError

MAX_DOCUMENT_BYTES = 4 * 1024 * 1024
"""ZooKeeper's own limit is 1 MiB by default; operators raise it at most a little."""

INT32_MAX = INT_MAX

BrokerId = Annotated[int, msgspec.Meta(ge=0, le=INT32_MAX)]
BrokerIdOrNone = Annotated[int, msgspec.Meta(ge=-1, le=INT32_MAX)]
PartitionNumber = Annotated[int, msgspec.Meta(ge=0, le=INT32_MAX)]
Epoch = Annotated[int, msgspec.Meta(ge=0, le=INT32_MAX)]
AnyInt32 = Annotated[int, msgspec.Meta(ge=-(2**31), le=INT32_MAX)]

_AT = re.compile(r" - at (?:`key` in )?`\$?\.?(.*)`$")
_MALFORMED = (msgspec.DecodeError, ValueError, RecursionError)
_MISSING = re.compile(r"missing required field `(.*?)`")

K = TypeVar("K")
T = TypeVar("T")


class Reader(Generic[K, T]):
    """Reads the znodes of one schema, of which there are thousands.

    ``path_of`` makes a znode's path from its key: only an error needs it.
    """

    def __init__(self, schema: type[T], path_of: Callable[[K], str]) -> None:
        self._decode = msgspec.json.Decoder(schema).decode
        self._path_of = path_of

    def read(self, key: K, data: bytes) -> T:
        """Return the document of a znode; raises `ZnodeError`."""
        try:
            if len(data) <= MAX_DOCUMENT_BYTES:
                return self._decode(data)
        except _MALFORMED as error:
            raise _refused(self._path_of(key), error) from error
        raise _too_large(self._path_of(key), data)

    def read_all(
        self, znodes: Iterable[tuple[K, bytes, int]], on_unreadable: Callable[[ZnodeError], None]
    ) -> Iterator[tuple[K, T, int]]:
        """Yield the documents of those znodes that can be read, with their versions.

        In one loop: by then `read` alone takes as long as the decoding.
        """
        decode = self._decode
        for key, data, version in znodes:
            try:
                if len(data) <= MAX_DOCUMENT_BYTES:
                    yield key, decode(data), version
                    continue
            except _MALFORMED as error:
                on_unreadable(_refused(self._path_of(key), error))
                continue
            on_unreadable(_too_large(self._path_of(key), data))


def read(path: str, data: bytes, schema: type[T]) -> T:
    """Return the document of a znode as a value of ``schema``; raises `ZnodeError`."""
    try:
        if len(data) <= MAX_DOCUMENT_BYTES:
            return msgspec.json.decode(data, type=schema)
    except _MALFORMED as error:
        raise _refused(path, error) from error
    raise _too_large(path, data)


def convert(path: str, document: Mapping[str, Any], schema: type[T]) -> T:
    """Return an already parsed document as a value of ``schema``; raises `ZnodeError`."""
    try:
        return msgspec.convert(document, schema)
    except msgspec.ValidationError as error:
        raise _refused(path, error) from error


def write(document: object) -> bytes:
    """Return a document as compact JSON with the keys in the order given."""
    return msgspec.json.encode(document)


def topic_partition(path: str, field: str, topic: str, partition: int) -> TopicPartition:
    """Return a partition named in a document; raises `ZnodeError` for an illegal topic name."""
    try:
        check_topic_name(topic)
    except InvalidTopicName as error:
        raise ZnodeError(path, field, str(error)) from error
    return TopicPartition(topic, partition)


def decimal(path: str, field: str, text: str, maximum: int = INT32_MAX) -> int:
    """Return a non-negative number written as Kafka writes it: digits, no sign, no zeros ahead."""
    if len(text) > 20 or not text.isascii() or not text.isdigit():
        raise ZnodeError(path, field, f"{text[:40]!r} is not a number")
    number = int(text)
    if number > maximum or str(number) != text:
        raise ZnodeError(path, field, f"{text!r} is not a number up to {maximum}")
    return number


def _too_large(path: str, data: bytes) -> ZnodeError:
    return ZnodeError(path, "", f"{len(data)} bytes are more than {MAX_DOCUMENT_BYTES}")


def _refused(path: str, error: Exception) -> ZnodeError:
    if isinstance(error, RecursionError):
        return ZnodeError(path, "", "nested too deeply")
    message = str(error)
    if not isinstance(error, msgspec.ValidationError):
        return ZnodeError(path, "", message)
    place = _AT.search(message)
    missing = _MISSING.search(message)
    names = [place.group(1)] if place and place.group(1) else []
    names += [missing.group(1)] if missing else []
    return ZnodeError(path, ".".join(names), message[:200])
