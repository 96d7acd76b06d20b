from pathlib import Path

import pytest

from ballast.cli.reassign.options import (
    Action,
    GivenOptions,
    UsageError,
    check_options,
)

SERVER = "localhost:1234"
FILE = Path("r.json")


def refused(actions: list[Action], given: GivenOptions) -> str:
    with pytest.raises(UsageError) as caught:
        check_options(dict.fromkeys(actions, True), given)
    return str(caught.value)


EXECUTE, VERIFY, CANCEL, LIST = Action.EXECUTE, Action.VERIFY, Action.CANCEL, Action.LIST


@pytest.mark.parametrize(
    ("actions", "given", "message"),
    [
        (
            [],
            GivenOptions(bootstrap_server=SERVER),
            "Command must include exactly one action: "
            "--generate, --execute, --verify, --cancel, --list",
        ),
        (
            [EXECUTE, VERIFY],
            GivenOptions(bootstrap_server=SERVER),
            "Command must include exactly one action: "
            "--generate, --execute, --verify, --cancel, --list",
        ),
        ([EXECUTE], GivenOptions(), "Please specify --bootstrap-server"),
        (
            [VERIFY],
            GivenOptions(bootstrap_server=SERVER),
            'Missing required argument "[reassignment-json-file]"',
        ),
        (
            [CANCEL],
            GivenOptions(bootstrap_server=SERVER, preserve_throttles=True),
            'Missing required argument "[reassignment-json-file]"',
        ),
        (
            [VERIFY],
            GivenOptions(bootstrap_server=SERVER, reassignment_json_file=FILE, throttle=100),
            'Option "[throttle]" can\'t be used with action "[verify]"',
        ),
        (
            [VERIFY],
            GivenOptions(bootstrap_server=SERVER, reassignment_json_file=FILE, timeout_ms=1),
            'Option "[timeout]" can\'t be used with action "[verify]"',
        ),
        (
            [EXECUTE],
            GivenOptions(
                bootstrap_server=SERVER, reassignment_json_file=FILE, preserve_throttles=True
            ),
            'Option "[preserve-throttles]" can\'t be used with action "[execute]"',
        ),
        (
            [CANCEL],
            GivenOptions(bootstrap_server=SERVER, reassignment_json_file=FILE, additional=True),
            'Option "[additional]" can\'t be used with action "[cancel]"',
        ),
        (
            [LIST],
            GivenOptions(bootstrap_server=SERVER, reassignment_json_file=FILE),
            'Option "[reassignment-json-file]" can\'t be used with action "[list]"',
        ),
        (
            [Action.GENERATE],
            GivenOptions(bootstrap_server=SERVER),
            'Missing required argument "[topics-to-move-json-file]"',
        ),
        (
            [Action.GENERATE],
            GivenOptions(bootstrap_server=SERVER, topics_to_move_json_file=FILE),
            'Missing required argument "[broker-list]"',
        ),
        (
            [Action.GENERATE],
            GivenOptions(
                bootstrap_server=SERVER,
                topics_to_move_json_file=FILE,
                broker_list="1",
                throttle=1,
            ),
            'Option "[throttle]" can\'t be used with action "[generate]"',
        ),
        (
            [LIST],
            GivenOptions(bootstrap_server=SERVER, disable_rack_aware=True),
            'Option "[disable-rack-aware]" can\'t be used with action "[list]"',
        ),
        (
            [LIST],
            GivenOptions(bootstrap_server="x"),
            "Invalid --bootstrap-server: not host:port: 'x'",
        ),
    ],
)
def test_options_that_do_not_fit(actions: list[Action], given: GivenOptions, message: str) -> None:
    assert refused(actions, given) == message


def test_options_that_fit() -> None:
    options = check_options(
        {EXECUTE: True, VERIFY: False},
        GivenOptions(
            bootstrap_server=SERVER,
            reassignment_json_file=FILE,
            throttle=5,
            additional=True,
            timeout_ms=1,
        ),
    )
    assert (options.action, options.throttle, options.additional) == (EXECUTE, 5, True)
    assert options.servers == (("localhost", 1234),)
    listing = check_options({LIST: True}, GivenOptions(bootstrap_server=SERVER))
    assert (listing.file, listing.throttle) == (None, -1)
    proposing = check_options(
        {Action.GENERATE: True},
        GivenOptions(
            bootstrap_server=SERVER,
            topics_to_move_json_file=FILE,
            broker_list="1,2",
            disable_rack_aware=True,
        ),
    )
    assert (proposing.file, proposing.broker_list, proposing.is_rack_aware) == (FILE, "1,2", False)
