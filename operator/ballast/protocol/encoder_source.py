"""Source text of encoders: one function per message class and version.

Its form::

    def generated(m, out, marks):
        ap = out.append
        ap(p0(m.replica_id, m.max_wait_ms, ...))
        ...

Fields of fixed size and int32 arrays in a row take one `struct` call; for the arrays the layout
depends on their lengths, and is kept per combination of lengths (`LayoutCache`), of which replica
lists have few. Records are appended as they are, and `marks` says where.
"""

from collections.abc import Callable
from struct import Struct, pack
from typing import Any, NamedTuple

from ballast.protocol import primitives
from ballast.protocol.errors import EncodeError
from ballast.protocol.schema import FIXED_FORMATS, Field, WireStruct, fields_of
from ballast.protocol.source_lines import SourceLines

_MOST_LAYOUTS = 1024


class LayoutCache(dict[tuple[int, ...], Callable[..., bytes]]):
    """Packers of one run, by the lengths of the run's arrays; emptied when it grows too large."""

    def __init__(self, codes: tuple[str | None, ...], *, flexible: bool) -> None:
        super().__init__()
        self._codes = codes
        self._flexible = flexible

    def __missing__(self, lengths: tuple[int, ...]) -> Callable[..., bytes]:
        if len(self) >= _MOST_LAYOUTS:
            self.clear()
        remaining = iter(lengths)
        codes = (self._array(next(remaining)) if code is None else code for code in self._codes)
        packer = self[lengths] = Struct(">" + "".join(codes)).pack
        return packer

    def _array(self, length: int) -> str:
        count = f"{len(primitives.compact_length(length))}s" if self._flexible else "i"
        return f"{count}{length}i"


def generate(cls: type[WireStruct], version: int, *, flexible: bool) -> tuple[str, dict[str, Any]]:
    """Return the source of ``generated(m, out, marks)`` and its globals."""
    writer = _Writer(version, flexible=flexible)
    writer.line("def generated(m, out, marks):")
    writer.depth = 1
    writer.line("ap = out.append")
    writer.struct(cls, "m")
    return writer.source(), writer.names


def lost_value(cls: type[WireStruct], name: str, version: int) -> EncodeError:
    """Return the error for a value that ``version`` cannot carry."""
    return EncodeError(f"{cls.__name__}.{name} is set, but version {version} has no such field")


class _Item(NamedTuple):
    """One part of a run: a `struct` code and expression, or an int32 array's variable."""

    code: str | None
    expression: str


class _Writer(SourceLines):
    """Lines of source so far, the names they use, and the run not yet written."""

    def __init__(self, version: int, *, flexible: bool) -> None:
        super().__init__(
            {
                "compact": primitives.COMPACT,
                "compact_length": primitives.compact_length,
                "string_bytes": primitives.string_bytes,
                "varint": primitives.encode_unsigned_varint,
                "pack": pack,
                "lost_value": lost_value,
            }
        )
        self.version = version
        self.flexible = flexible
        self._run: list[_Item] = []

    # Runs.

    def flush(self) -> None:
        run, self._run = self._run, []
        if not run:
            return
        arrays = [item.expression for item in run if item.code is None]
        if arrays:
            cache = LayoutCache(tuple(item.code for item in run), flexible=self.flexible)
            lengths = [f"len({array})" for array in arrays]
            packer = f"{self.name('c', cache)}[{', '.join(lengths)},]"
        else:
            layout = Struct(">" + "".join(item.code or "" for item in run))
            packer = self.name("p", layout.pack)
        arguments = [self.argument(item) for item in run if item.code != "x"]
        self.line(f"ap({packer}({', '.join(arguments)}))")

    def argument(self, item: _Item) -> str:
        if item.code is not None:
            return item.expression
        count = f"len({item.expression})"
        if self.flexible:
            count = f"compact_length({count})"
        return f"{count}, *{item.expression}"

    # Structs.

    def struct(self, cls: type[WireStruct], owner: str) -> None:
        """Write the writing of the struct in variable ``owner``."""
        tagged = []
        for field in fields_of(cls):
            if not field.versions.has(self.version):
                self.absent(cls, field, owner)
            elif field.tag is not None:
                tagged.append(field)
            else:
                self.value(field, f"{owner}.{field.name}")
        if self.flexible:
            self.tags(tagged, owner)
        self.flush()

    def absent(self, cls: type[WireStruct], field: Field, owner: str) -> None:
        """Write the refusal of a value that this version would lose."""
        if field.ignorable:
            return
        default, owner_class = self.name("d", field.default), self.name("C", cls)
        self.line(
            f"if {owner}.{field.name} != {default}:"
            f" raise lost_value({owner_class}, {field.name!r}, {self.version})"
        )

    def tags(self, fields: list[Field], owner: str) -> None:
        if not fields:
            self._run.append(_Item("x", ""))
            return
        defaults = [self.name("d", field.default) for field in fields]
        same = " and ".join(
            f"({owner}.{field.name} is {default} or {owner}.{field.name} == {default})"
            for field, default in zip(fields, defaults, strict=True)
        )
        self.flush()
        self.line(f"if {same}: ap(b'\\0')")
        self.line(f"else: {self.tag_writer(fields, defaults)}({owner}, ap)")

    def tag_writer(self, fields: list[Field], defaults: list[str]) -> str:
        """Write a function that writes those of ``fields`` that differ; return its name."""
        inner = _Writer(self.version, flexible=True)
        inner.begin_helper_of(self)
        helper = self.fresh("tags")
        inner.line(f"def {helper}(m, outer):")
        inner.depth = 1
        inner.line("bodies = []")
        for field, default in zip(fields, defaults, strict=True):
            inner.line(f"if m.{field.name} != {default}:")
            inner.depth = 2
            inner.line("chunks = []; ap = chunks.append")
            inner.value(field, f"m.{field.name}")
            inner.flush()
            inner.line(f"bodies.append(({field.tag}, b''.join(chunks)))")
            inner.depth = 1
        inner.line("outer(varint(len(bodies)))")
        inner.line("for tag, body in sorted(bodies):")
        inner.line("    outer(varint(tag)); outer(varint(len(body))); outer(body)")
        self.add_helper(inner)
        return helper

    # Values.

    def value(self, field: Field, expression: str) -> None:
        """Write the writing of one field; what is of fixed layout joins the run."""
        if field.kind in FIXED_FORMATS:
            suffix = ".bytes" if field.kind == "uuid" else ""
            self._run.append(_Item(FIXED_FORMATS[field.kind], expression + suffix))
            return
        if field.kind == "[]int32" and not field.nullable.has(self.version):
            variable = self.fresh("x")
            self.line(f"{variable} = {expression}")
            self._run.append(_Item(None, variable))
            return
        self.flush()
        variable = self.fresh("x")
        self.line(f"{variable} = {expression}")
        if field.kind == "struct":
            assert field.struct is not None
            self.struct(field.struct, variable)
            return
        if field.nullable.has(self.version):
            self.line(f"if {variable} is None: ap({self.null(field)!r})")
            self.line("else:")
            self.depth += 1
            self.sized(field, variable)
            self.depth -= 1
        else:
            self.sized(field, variable)

    def null(self, field: Field) -> bytes:
        if self.flexible:
            return b"\0"
        return b"\xff\xff" if field.kind == "string" else b"\xff\xff\xff\xff"

    def sized(self, field: Field, variable: str) -> None:
        """Write the writing of a length and what follows it."""
        if field.kind == "string":
            self.line(f"{variable} = string_bytes({variable})")
        self.length(variable, is_string=field.kind == "string")
        if field.kind in ("string", "bytes"):
            self.line(f"ap({variable})")
        elif field.kind == "records":
            self.line(f"marks.append(len(out)); ap({variable})")
        elif field.kind in ("[]int32", "[]int64"):
            code = "i" if field.kind == "[]int32" else "q"
            self.line(f"ap(pack(f'>{{len({variable})}}{code}', *{variable}))")
        else:
            self.array(field, variable)

    def length(self, variable: str, *, is_string: bool) -> None:
        if self.flexible:
            length = self.fresh("n")
            self.line(f"{length} = len({variable})")
            self.line(f"ap(compact[{length}] if {length} < 4096 else compact_length({length}))")
        else:
            packer = self.name("p", Struct(">h" if is_string else ">i").pack)
            self.line(f"ap({packer}(len({variable})))")

    def array(self, field: Field, variable: str) -> None:
        element = self.fresh("e")
        self.line(f"for {element} in {variable}:")
        self.depth += 1
        if field.struct is not None:
            self.struct(field.struct, element)
        else:
            self.line(f"{element} = string_bytes({element})")
            self.length(element, is_string=True)
            self.line(f"ap({element})")
        self.depth -= 1
