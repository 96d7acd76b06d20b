from typing import Any

from ballast.protocol.source_lines import SourceLines


def test_lines_stand_at_their_depth_after_the_helpers_with_names_of_their_own() -> None:
    names: dict[str, Any] = {"start": 40}
    lines = SourceLines(names)
    lines.line("def generated():")
    lines.depth = 1
    helper = SourceLines({})
    helper.begin_helper_of(lines)
    called = lines.fresh("f")
    helper.line(f"def {called}(x):")
    helper.depth = 1
    helper.line(f"return x + {helper.name('d', 1)}")
    lines.add_helper(helper)
    lines.line(f"return {called}(start) + {lines.name('d', 1)}")

    assert lines.source() == (
        "def f0(x):\n    return x + d1\ndef generated():\n    return f0(start) + d2"
    )
    assert names == {"start": 40, "d1": 1, "d2": 1}
