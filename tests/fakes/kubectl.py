"""A ``kubectl`` that answers from files: a program of its own, found on the PATH."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ballast.cli.kubectl.client import Document

_PROGRAM = r"""#!/bin/sh
# Arguments end with a unit separator, calls with a record separator.
PATH=/bin:/usr/bin
cd "${0%/*}/.." || exit
{ printf '%s\037' "$@"; printf '\036'; } >> calls
if [ -s trouble ]; then
    head -n 1 trouble >&2
    sed -i 1d trouble
    exit 1
fi
verb=$1; shift
resource=; name=; patch=; plain=
for word; do
    case $plain$word in
        --patch=*) patch=${word#--patch=} ;;
        --) plain=+ ;;
        --*) ;;
        *) if [ -z "$resource" ]; then resource=$word; else name=$word; fi ;;
    esac
done
if [ "$verb" = get ] && [ -z "$name" ]; then
    printf '{"kind": "List", "items": ['
    between=
    for file in "$resource"/*.0; do
        if [ -e "$file" ]; then printf '%s' "$between"; cat "$file"; between=,; fi
    done
    printf ']}'
    exit
fi
for number in 0 1 2 3 4 5 6 7 8 9; do
    file=$resource/$name.$number
    if [ -e "$file" ]; then break; fi
done
if [ ! -e "$file" ]; then
    printf 'Error from server (NotFound): %s "%s" not found\n' "$resource" "$name" >&2
    exit 1
fi
cat "$file"
if [ "$verb" = patch ]; then
    printf '["%s", "%s", %s]\n' "$resource" "$name" "$patch" >> patches
elif [ -e "$resource/$name.$((number + 1))" ]; then
    rm "$file"
fi
"""


class FakeKubectl:
    """What there is in the one namespace that it knows, and what it was asked."""

    def __init__(self, home: Path) -> None:
        self._home = home
        self.folder = home / "bin"
        self.folder.mkdir()
        self._program(_PROGRAM)

    def add(self, resource: str, *versions: Document) -> None:
        """Make an object; of at most ten versions each is seen once, the last from then on."""
        folder = self._home / resource
        folder.mkdir(exist_ok=True)
        for number, version in enumerate(versions):
            name = version["metadata"]["name"]
            (folder / f"{name}.{number}").write_text(json.dumps(version))

    def fail(self, *messages: str) -> None:
        """Let the next calls fail with these messages, one each."""
        (self._home / "trouble").write_text("".join(f"{message}\n" for message in messages))

    def say_nonsense(self) -> None:
        """Answer with something that is no JSON from now on."""
        self._program("#!/bin/sh\necho nonsense\n")

    @property
    def calls(self) -> list[list[str]]:
        """The arguments of every call."""
        path = self._home / "calls"
        calls = path.read_text().split("\x1e")[:-1] if path.exists() else []
        return [call.split("\x1f")[:-1] for call in calls]

    @property
    def patches(self) -> list[Sequence[Any]]:
        """Resource, name and patch of every patch."""
        path = self._home / "patches"
        return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []

    def _program(self, text: str) -> None:
        program = self.folder / "kubectl"
        program.write_text(text)
        program.chmod(0o755)
