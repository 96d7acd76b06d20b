"""Source text of decoders: one function per message class and version.

Its form, where runs of fixed fields (and the length that ends a run) take one `struct` call, and
nested arrays are loops in the same function::

    def generated(b, p, end):
        v0, v1, n2 = u0(b, p); p += 7
        if n2 > 127: n2, p = long_count(b, p)
        ...
        return FetchRequest(replica_id=v0, ...), p

`b` is the buffer, `p` the position, `end` the length. Every length is compared with what the
buffer still holds before anything is built of it. What runs over the end inside `struct` or an
index raises `struct.error` or `IndexError`, which `codec` turns into `DecodeError`.
"""

from struct import Struct
from typing import Any
from uuid import UUID

from ballast.protocol import primitives
from ballast.protocol.schema import (
    FIXED_FORMATS,
    Field,
    WireStruct,
    fields_of,
    least_size,
)
from ballast.protocol.source_lines import SourceLines


def generate(cls: type[WireStruct], version: int, *, flexible: bool) -> tuple[str, dict[str, Any]]:
    """Return the source of ``generated(b, p, end) -> (message, position)`` and its globals."""
    writer = _Writer(version, flexible=flexible)
    writer.line("def generated(b, p, end):")
    writer.depth = 1
    value = writer.struct(cls)
    writer.line(f"return {value}, p")
    return writer.source(), writer.names


class _Writer(SourceLines):
    """Lines of source so far, the names they use, and the run of fixed fields not yet written."""

    def __init__(self, version: int, *, flexible: bool) -> None:
        super().__init__(
            {
                "long_count": primitives.long_count,
                "long_string_length": primitives.long_string_length,
                "refused_length": primitives.refused_length,
                "read_unsigned_varint": primitives.read_unsigned_varint,
                "skip_tags": primitives.skip_tags,
                "tag_count": primitives.tag_count,
                "unpack_many": primitives.unpack_many,
                "ints": primitives.UNPACK_INT32S,
                "UUID": UUID,
            }
        )
        self.version = version
        self.flexible = flexible
        self._run: list[tuple[str, str]] = []

    # Runs of fixed fields.

    def fixed(self, code: str, variable: str) -> None:
        self._run.append((code, variable))

    def flush(self) -> None:
        run, self._run = self._run, []
        if not run:
            return
        layout = Struct(">" + "".join(code for code, _ in run))
        if layout.format == ">B":
            self.line(f"{run[0][1]} = b[p]; p += 1")
            return
        variables = ", ".join(variable for _, variable in run)
        unpack = self.name("u", layout.unpack_from)
        self.line(f"{variables}, = {unpack}(b, p); p += {layout.size}")

    # Structs.

    def struct(self, cls: type[WireStruct]) -> str:
        """Write the reading of one struct; return the expression that builds it."""
        fields = [field for field in fields_of(cls) if field.versions.has(self.version)]
        values = {field.name: self.value(field) for field in fields if field.tag is None}
        if self.flexible:
            values |= self.tagged([field for field in fields if field.tag is not None])
        self.flush()
        arguments = ", ".join(f"{name}={value}" for name, value in values.items())
        return f"{self.name(cls.__name__, cls)}({arguments})"

    def tagged(self, fields: list[Field]) -> dict[str, str]:
        """Write the reading of the tagged fields; return the expression of each known one."""
        count = self.fresh("t")
        self.fixed("B", count)
        self.flush()
        if not fields:
            self.line(f"if {count}: p = skip_tags(b, p - 1, end)")
            return {}
        values = {field.name: self.fresh("v") for field in fields}
        helper = self.tag_reader(fields)
        self.line(f"if {count}: {', '.join(values.values())}, p = {helper}(b, p - 1, end)")
        self.line("else:")
        self.depth += 1
        for field in fields:
            self.line(f"{values[field.name]} = {self.name('d', field.default)}")
        self.depth -= 1
        return values

    def tag_reader(self, fields: list[Field]) -> str:
        """Write a function that reads ``fields`` where any are there; return its name."""
        inner = _Writer(self.version, flexible=True)
        inner.begin_helper_of(self)
        helper = self.fresh("tags")
        inner.line(f"def {helper}(b, p, end):")
        inner.depth = 1
        values = [inner.fresh("v") for _ in fields]
        for field, value in zip(fields, values, strict=True):
            inner.line(f"{value} = {inner.name('d', field.default)}")
        inner.line("count, p = tag_count(b, p)")
        inner.line("for _ in range(count):")
        inner.depth = 2
        inner.line("tag, p = read_unsigned_varint(b, p)")
        inner.line("size, p = read_unsigned_varint(b, p)")
        inner.line("after = p + size")
        inner.line("if after > end: raise refused_length(size, end - p)")
        for field, value in zip(fields, values, strict=True):
            inner.line(f"if tag == {field.tag}:")
            inner.depth = 3
            expression = inner.value(field)
            inner.flush()
            inner.line(f"{value} = {expression}")
            inner.line("if p != after: raise refused_length(size, after - p)")
            inner.depth = 2
        inner.line("p = after")
        inner.depth = 1
        inner.line(f"return {', '.join(values)}, p")
        self.add_helper(inner)
        return helper

    # Values.

    def value(self, field: Field) -> str:
        """Write the reading of one field; return the expression of its value.

        A fixed field may stay in the run: its expression holds once the run is flushed.
        """
        variable = self.fresh("v")
        if field.kind in FIXED_FORMATS:
            self.fixed(FIXED_FORMATS[field.kind], variable)
            return f"UUID(bytes={variable})" if field.kind == "uuid" else variable
        if field.kind == "struct":
            assert field.struct is not None
            return self.struct(field.struct)
        length = self.length(is_string=field.kind == "string")
        if field.nullable.has(self.version):
            self.line(f"if {length} == -1: {variable} = None")
            self.line("else:")
            self.depth += 1
            self.sized(field, length, variable)
            self.depth -= 1
        else:
            self.sized(field, length, variable)
        return variable

    def length(self, *, is_string: bool) -> str:
        """Write the reading of a length or count, which ends a run; null is -1."""
        length = self.fresh("n")
        if not self.flexible:
            self.fixed("h" if is_string else "i", length)
            self.flush()
            return length
        self.fixed("B", length)
        self.flush()
        reader = "long_string_length" if is_string else "long_count"
        self.line(f"if {length} > 127: {length}, p = {reader}(b, p)")
        self.line(f"{length} -= 1")
        return length

    def sized(self, field: Field, length: str, variable: str) -> None:
        """Write the reading of what follows the length."""
        if field.kind == "[]int32":
            self.line(f"if 0 <= {length} < 64: {variable} = ints[{length}](b, p)")
            self.line(f"else: {variable} = unpack_many(b, p, end, {length}, 'i')")
            self.line(f"p += 4 * {length}")
        elif field.kind == "[]int64":
            self.line(f"{variable} = unpack_many(b, p, end, {length}, 'q')")
            self.line(f"p += 8 * {length}")
        elif field.kind in ("[]struct", "[]string"):
            self.array(field, length, variable)
        else:
            self.slice(field, length, variable)

    def slice(self, field: Field, length: str, variable: str) -> None:
        """Write the reading of a string, of bytes or of records."""
        after = self.fresh("q")
        self.line(f"{after} = p + {length}")
        self.line(f"if {length} < 0 or {after} > end: raise refused_length({length}, end - p)")
        taken = f"b[p:{after}]"
        if field.kind == "bytes":
            taken = f"bytes({taken})"
        elif field.kind != "records":
            taken = f"str({taken}, 'utf-8')"
        self.line(f"{variable} = {taken}; p = {after}")

    def array(self, field: Field, count: str, variable: str) -> None:
        """Write the reading of an array, its count bounded by the least size of an element."""
        least = least_size(field, self.version, flexible=self.flexible)
        items, append = self.fresh("l"), self.fresh("a")
        self.line(
            f"if {count} < 0 or {count} * {least} > end - p: raise refused_length({count}, end - p)"
        )
        self.line(f"{items} = []; {append} = {items}.append")
        self.line(f"for _ in range({count}):")
        self.depth += 1
        if field.struct is not None:
            self.line(f"{append}({self.struct(field.struct)})")
        else:
            element = self.fresh("v")
            self.slice(field, self.length(is_string=True), element)
            self.line(f"{append}({element})")
        self.depth -= 1
        self.line(f"{variable} = tuple({items})")
