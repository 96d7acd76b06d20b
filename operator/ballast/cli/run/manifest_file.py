"""A manifest on disk: read as YAML (or JSON), and read again when it changes.

YAML is read with limits, before anything is built from it: no aliases (a few lines of them stand
for gigabytes), bounded depth, nodes and size, no key twice.
"""

from pathlib import Path
from typing import Any

import yaml

from ballast.model.fields import FieldError
from ballast.reassign.errors import ManifestRejected
from ballast.reassign.generate.generate_manifest import PlanToGenerate
from ballast.reassign.spec.manifest import parse_manifest
from ballast.reassign.spec.plan_manifest import (
    PlanConfigMap,
    PlanFile,
    PlanSource,
    read_kafka_plan,
)
from ballast.reassign.spec.spec import Assignments, ReassignmentSpec

MAX_MANIFEST_BYTES = 1024 * 1024
MAX_PLAN_FILE_BYTES = 64 * 1024 * 1024
_MAX_DEPTH = 20
_MAX_NODES = 100_000
_BASE: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


class _Loader(_BASE):  # type: ignore[misc]  # libyaml's loader where PyYAML has it
    """A safe loader that refuses a key given twice."""


def _construct_mapping(loader: _Loader, node: yaml.MappingNode) -> dict[Any, Any]:
    keys = [loader.construct_object(key, deep=True) for key, _ in node.value]
    earlier_keys: list[object] = []
    for key, (key_node, _) in zip(keys, node.value, strict=True):
        if not isinstance(key, str):
            raise yaml.constructor.ConstructorError(
                None, None, "a key must be a string", key_node.start_mark
            )
        if key in earlier_keys:
            raise yaml.constructor.ConstructorError(
                None, None, f"key {key[:60]!r} is given twice", key_node.start_mark
            )
        earlier_keys.append(key)
    values = [loader.construct_object(value, deep=True) for _, value in node.value]
    return dict(zip(keys, values, strict=True))


_Loader.add_constructor(yaml.resolver.BaseResolver.DEFAULT_MAPPING_TAG, _construct_mapping)


def load_yaml(text: str) -> object:
    """Return the one document in a YAML text.

    Raises `ManifestRejected` for anything that is not YAML, or is beyond the limits.
    """
    try:
        _check_limits(text)
        return yaml.load(text, Loader=_Loader)  # noqa: S506  (a SafeLoader)
    except yaml.YAMLError as error:
        raise _rejected(_words(error)) from error
    except (ValueError, OverflowError, RecursionError) as error:
        raise _rejected(f"cannot be read: {type(error).__name__}") from error


def _check_limits(text: str) -> None:
    depth = 0
    for nodes, event in enumerate(yaml.parse(text, Loader=_BASE)):
        if isinstance(event, yaml.AliasEvent):
            raise _rejected("YAML aliases are not accepted")
        if isinstance(event, yaml.CollectionStartEvent):
            depth += 1
        elif isinstance(event, yaml.CollectionEndEvent):
            depth -= 1
        if depth > _MAX_DEPTH or nodes > _MAX_NODES:
            raise _rejected("is nested too deeply or too large")


def _words(error: yaml.YAMLError) -> str:
    mark = getattr(error, "problem_mark", None)
    problem = getattr(error, "problem", None) or "is not YAML"
    return problem if mark is None else f"line {mark.line + 1}: {problem}"


def _rejected(reason: str, path: str = "(document)") -> ManifestRejected:
    return ManifestRejected([FieldError(path=path, reason=reason)])


_Stamp = tuple[int, int, int]
"""Time of change, size and inode: identify a version of the file without reading it."""


class ManifestFile:
    """A manifest file and the generations read from it."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.generation = 0
        self._stamp: _Stamp | None = None
        self._last: ReassignmentSpec | None = None

    def read(self) -> ReassignmentSpec:
        """Read the file; what differs from before is a new generation.

        Raises `ManifestRejected` for a bad manifest, and for an edit of what may not be edited.
        """
        self._stamp = self._stat()
        manifest = parse_manifest(load_yaml(_read_text(self.path, MAX_MANIFEST_BYTES)))
        plan = self._assignments(manifest.plan)
        spec = manifest.spec(plan, max(1, self.generation))
        if self._last is None or spec != self._last:
            self._check_edit(spec)
            self.generation += 1
            self._last = manifest.spec(plan, self.generation)
        return self._last

    def reread(self) -> ReassignmentSpec | None:
        """Return a new generation if the file has changed to one, else None.

        Raises `ManifestRejected` as `read` does, once for each change of the file.
        """
        before = self._last
        stamp = self._stat()
        if stamp is None or stamp == self._stamp:
            return None
        spec = self.read()
        return None if spec is before else spec

    def _assignments(self, plan: PlanSource) -> Assignments:
        match plan:
            case PlanFile(path=path):
                text = _read_text(self.path.parent / path, MAX_PLAN_FILE_BYTES, "spec.plan.file")
                return read_kafka_plan(text)
            case PlanConfigMap():
                raise _rejected(
                    "needs Kubernetes: give the plan as assignments or as a file",
                    "spec.plan.configMapRef",
                )
            case PlanToGenerate():
                raise _rejected(
                    "needs Kubernetes: make the plan with `ballast plan generate --format kafka` "
                    "and give it as a file",
                    "spec.plan.generate",
                )
            case Assignments():
                return plan

    def _check_edit(self, spec: ReassignmentSpec) -> None:
        last = self._last
        if last is None:
            return
        if spec.name != last.name:
            raise _rejected("cannot be changed while it runs", "metadata.name")
        if spec.targets != last.targets or spec.log_dirs != last.log_dirs:
            raise _rejected("is immutable: make a new reassignment", "spec.plan")

    def _stat(self) -> _Stamp | None:
        try:
            stat = self.path.stat()
        except OSError:
            return None
        return stat.st_mtime_ns, stat.st_size, stat.st_ino


def _read_text(path: Path, max_bytes: int, field: str = "(document)") -> str:
    try:
        with path.open("rb") as file:
            content = file.read(max_bytes + 1)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise _rejected(f"{path} cannot be read: {reason}", field) from error
    if len(content) > max_bytes:
        raise _rejected(f"{path} is larger than {max_bytes} bytes", field)
    try:
        return content.decode()
    except UnicodeDecodeError as error:
        raise _rejected(f"{path} is not UTF-8", field) from error
