import inspect
import re
import signal
import subprocess
import sys
from collections.abc import Callable
from dataclasses import asdict
from importlib import import_module
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from ballast.cli.app import app

OPTIONS = {
    "up": [
        *("--brokers", "--controllers", "--dir", "--base-port", "--log-dirs", "--no-restart"),
        "--override",
    ],
    "run": ["--bootstrap-server", "--file", "-f", "--state-dir", "--output", "--poll-interval"],
    "reassign": [
        *("--bootstrap-server", "--execute", "--verify", "--cancel", "--list", "--generate"),
        *("--reassignment-json-file", "--throttle", "--additional", "--preserve-throttles"),
        *("--timeout", "--replica-alter-log-dirs-throttle"),
        *("--topics-to-move-json-file", "--broker-list", "--disable-rack-aware"),
    ],
    "broker": ["--override", "--pod"],
    "controller": ["--override"],
    "operator": [
        *("--broker-image", "--pod-name", "--pod-namespace", "--pod-ip", "--namespace"),
        *("--cluster-domain", "--http-port", "--watch-nodes", "--no-watch-nodes"),
        *("--spark-image", "--spark-image-pull-policy", "--spark-image-pull-secret"),
        *("--spark-service-account", "--spark-pod", "--broker-pods", "--controller-ports"),
        *("--lease-name",),
        *("--lease-duration", "--lease-renew-deadline", "--lease-retry"),
    ],
    "demo": ["--dir", "--base-port"],
    "zookeeper": [
        *("--data-dir", "--host-pattern", "--replicas-file", "--ports", "--heap-percentage"),
        *("--listen-everywhere", "--no-listen-everywhere"),
    ],
    "uninstall": ["--all-namespaces", "--namespace", "--operator-labels", "--check"],
    "plan generate": [
        *("--snapshot", "--strategy", "--out", "--broker-ids", "--replication-factor"),
        *("--include", "--exclude", "--max-replica-moves", "--max-bytes-to-move"),
        *("--start-index", "--objective", "--seed", "--engine", "--format"),
    ],
    "plan snapshot": [
        *("--bootstrap-server", "--out", "--load-window", "--load-percentile"),
        *("--load-by-hour-of-day", "--load-growth", "--capacity"),
    ],
    "plan show": ["--snapshot", "--throttle", "--max-concurrent-moves-per-broker", "--html"],
}


def run(*words: str) -> tuple[int, str]:
    """Run the program; return its exit code and everything that it says."""
    ended = CliRunner(env={"COLUMNS": "200", "NO_COLOR": "1", "TERM": "dumb"}).invoke(app, words)
    return ended.exit_code, ended.output


@pytest.fixture
def called(monkeypatch: pytest.MonkeyPatch) -> Callable[[str], list[dict[str, Any]]]:
    """Replace a command's main function by one that records its options and exits with 7.

    Options that the real function does not accept fail here too.
    """

    def replace(command: str) -> list[dict[str, Any]]:
        calls: list[dict[str, Any]] = []
        module = import_module(f"ballast.cli.{command}")
        signature = inspect.signature(module.main)

        def main(*values: Any, **options: Any) -> int:
            signature.bind(*values, **options)
            calls.append(asdict(values[0]) if values else options)
            return 7

        monkeypatch.setattr(module, "main", main)
        return calls

    return replace


def test_the_commands_are_all_there_are() -> None:
    code, said = run("--help")
    assert code == 0
    listed = re.findall(r"^[│|]? ?([a-z]+)  +[A-Z]", said, re.MULTILINE)
    assert sorted(listed) == sorted({command.split()[0] for command in OPTIONS})


def test_the_commands_about_plans_are_all_there_are() -> None:
    code, said = run("plan", "--help")
    assert code == 0
    listed = re.findall(r"^[│|]? ?([a-z]+)  +[A-Z]", said, re.MULTILINE)
    assert sorted(listed) == sorted(c.split()[1] for c in OPTIONS if c.startswith("plan "))


@pytest.mark.parametrize("command", OPTIONS)
def test_help_lists_every_option(command: str) -> None:
    code, said = run(*command.split(), "--help")
    assert code == 0
    assert set(re.findall(r"(?<![\w-])--?[a-z][a-z-]*", said)) - {"--help"} == set(OPTIONS[command])


@pytest.mark.parametrize(
    "words",
    [
        ["nonsense"],
        ["up", "--brokers", "0"],
        ["up", "--base-port", "80"],
        ["run", "-f", "x"],
        ["run", "--bootstrap-server", "h:1"],
        ["run", "-f", "x", "--bootstrap-server", "h:1", "--poll-interval", "0"],
        ["broker", "a", "b"],
        ["operator"],
        ["demo", "--brokers", "3"],
        ["plan"],
        ["plan", "generate", "--snapshot", "s", "--out", "o"],
    ],
    ids=" ".join,
)
def test_wrong_words_exit_with_2(words: list[str]) -> None:
    assert run(*words)[0] == 2


def test_up_has_the_defaults_of_its_help(
    called: Callable[[str], list[dict[str, Any]]],
) -> None:
    calls = called("servers.up")
    assert run("up")[0] == 7
    words = "--brokers 5 --controllers 1 --dir d --base-port 2000 --log-dirs 2 --no-restart"
    words += " --override a=b"
    assert run("up", *words.split(), "--override", "c=d")[0] == 7
    assert calls == [
        {
            "brokers": 3,
            "controllers": 2,
            "directory": Path("ballast-data"),
            "base_port": 19092,
            "log_dirs": 1,
            "restart": True,
            "overrides": (),
        },
        {
            "brokers": 5,
            "controllers": 1,
            "directory": Path("d"),
            "base_port": 2000,
            "log_dirs": 2,
            "restart": False,
            "overrides": ("a=b", "c=d"),
        },
    ]


def test_run_passes_its_options_on(called: Callable[[str], list[dict[str, Any]]]) -> None:
    calls = called("run.run")
    assert run("run", "-f", "m.yaml", "--bootstrap-server", "h:1")[0] == 7
    words = "--state-dir s --output json --poll-interval 0.5"
    assert run("run", "--file", "m.yaml", "--bootstrap-server", "h:1", *words.split())[0] == 7
    given = {"file": Path("m.yaml"), "bootstrap_server": "h:1"}
    assert calls == [
        {**given, "state_dir": None, "output": "text", "poll_interval_s": 1.0},
        {**given, "state_dir": Path("s"), "output": "json", "poll_interval_s": 0.5},
    ]


def test_reassign_passes_its_options_on(called: Callable[[str], list[dict[str, Any]]]) -> None:
    calls = called("reassign.reassign")
    words = "--bootstrap-server h:1 --execute --reassignment-json-file p.json --throttle 5"
    more = "--additional --preserve-throttles --timeout 10000"
    assert run("reassign", *words.split(), *more.split())[0] == 7
    assert calls == [
        {
            "bootstrap_server": "h:1",
            "execute": True,
            "verify": False,
            "cancel": False,
            "list_active": False,
            "generate_": False,
            "reassignment_json_file": Path("p.json"),
            "throttle": 5,
            "log_dirs_throttle": None,
            "additional": True,
            "preserve_throttles": True,
            "timeout_ms": 10000,
            "topics_to_move_json_file": None,
            "broker_list": None,
            "disable_rack_aware": False,
        }
    ]


def test_the_operator_takes_its_options_from_words_and_environment(
    called: Callable[[str], list[dict[str, Any]]], monkeypatch: pytest.MonkeyPatch
) -> None:
    calls = called("servers.operator")
    for name, value in {
        "POD_NAME": "ballast-0",
        "POD_NAMESPACE": "ops",
        "POD_IP": "10.0.0.1",
        "BALLAST_BROKER_IMAGE": "ballast:dev",
        "BALLAST_WATCH_NODES": "false",
        "BALLAST_SPARK_IMAGE": "spark:1",
    }.items():
        monkeypatch.setenv(name, value)
    words = "--namespace a --namespace b --http-port 8081 --lease-retry 1 --pod-name mine"
    assert run("operator", *words.split())[0] == 7
    assert calls == [
        {
            "namespaces": ("a", "b"),
            "lease_duration_s": 15.0,
            "lease_renew_deadline_s": 10.0,
            "lease_retry_s": 1.0,
            "spark_image": "spark:1",
            "spark_image_pull_policy": "IfNotPresent",
            "spark_image_pull_secrets": (),
            "spark_service_account": "ballast-spark",
            "spark_pod": "",
            "broker_pods": "",
            "controller_ports": "",
            "lease_name": "ballast-operator",
            "broker_image": "ballast:dev",
            "pod_name": "mine",
            "pod_namespace": "ops",
            "pod_ip": "10.0.0.1",
            "cluster_domain": "cluster.local",
            "http_port": 8081,
            "is_watching_nodes": False,
        }
    ]


@pytest.mark.parametrize(("command", "more"), [("broker", {"pod": False}), ("controller", {})])
def test_a_process_takes_a_file_and_overrides(
    called: Callable[[str], list[dict[str, Any]]], command: str, more: dict[str, Any]
) -> None:
    calls = called(f"servers.{command}")
    assert run(command)[0] == 7
    assert run(command, "server.properties", "--override", "a=b=c")[0] == 7
    assert calls == [
        {"properties": None, "overrides": (), **more},
        {"properties": Path("server.properties"), "overrides": ("a=b=c",), **more},
    ]


def test_a_broker_may_ask_its_pod(called: Callable[[str], list[dict[str, Any]]]) -> None:
    calls = called("servers.broker")
    assert run("broker", "--pod", "server.properties")[0] == 7
    assert calls == [{"properties": Path("server.properties"), "overrides": (), "pod": True}]


@pytest.mark.parametrize("command", ["broker", "controller", "operator"])
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_process_that_has_no_handler_yet_ends_well(
    monkeypatch: pytest.MonkeyPatch, command: str, number: signal.Signals
) -> None:
    """The kernel drops a signal to process 1 that has no handler for it."""
    before = signal.getsignal(number)
    module = import_module(f"ballast.cli.servers.{command}")
    monkeypatch.setattr(module, "main", lambda *_, **__: signal.raise_signal(number))
    for name in ("POD_NAME", "POD_NAMESPACE", "POD_IP", "BALLAST_BROKER_IMAGE"):
        monkeypatch.setenv(name, "x")
    assert run(command) == (0, "")
    assert signal.getsignal(number) is before


def test_demo_takes_a_folder_and_a_port(called: Callable[[str], list[dict[str, Any]]]) -> None:
    calls = called("demo.demo")
    assert run("demo", "--dir", "d", "--base-port", "2000")[0] == 7
    assert calls == [{"directory": Path("d"), "base_port": 2000}]


def test_a_plan_is_asked_for_with_all_its_options(
    called: Callable[[str], list[dict[str, Any]]],
) -> None:
    calls = called("plan.generate")
    words = "plan generate --snapshot s --strategy AddBrokers --out o --broker-ids 7,8"
    assert run(*words.split())[0] == 7
    more = "--include a --include b --exclude c --max-replica-moves 1 --max-bytes-to-move 2Ki"
    others = "--replication-factor 3 --start-index 4 --seed 5 --engine e --format kafka"
    others += " --objective BytesInPerSecond"
    assert run(*words.split(), *more.split(), *others.split())[0] == 7
    defaults = {
        "snapshot": Path("s"),
        "strategy": "AddBrokers",
        "out": Path("o"),
        "broker_ids": "7,8",
        "replication_factor": None,
        "include": (),
        "exclude": (),
        "max_replica_moves": None,
        "max_bytes_to_move": None,
        "start_index": None,
        "objective": "Bytes",
        "seed": 0,
        "engine": "inprocess",
        "format": "ballast",
    }
    assert calls == [
        defaults,
        {
            **defaults,
            "include": ("a", "b"),
            "exclude": ("c",),
            "max_replica_moves": 1,
            "max_bytes_to_move": "2Ki",
            "replication_factor": 3,
            "start_index": 4,
            "objective": "BytesInPerSecond",
            "seed": 5,
            "engine": "e",
            "format": "kafka",
        },
    ]


def test_a_plan_is_shown_and_a_snapshot_taken(
    called: Callable[[str], list[dict[str, Any]]],
) -> None:
    shown, taken = called("plan.show"), called("plan.snapshot")
    assert run("plan", "show", "p")[0] == 7
    more = "--snapshot s --throttle 5Mi --max-concurrent-moves-per-broker 2 --html h"
    assert run("plan", "show", "p", *more.split())[0] == 7
    assert run("plan", "snapshot", "--bootstrap-server", "h:1", "--out", "s")[0] == 7
    more = "--load-window 1h --load-percentile 95 --load-by-hour-of-day --load-growth 7d"
    more += " --capacity 2Ti --capacity 7=4Ti"
    assert run("plan", "snapshot", "--bootstrap-server", "h:1", "--out", "s", *more.split())[0] == 7
    plan = {"plan": Path("p"), "snapshot": None, "throttle": None, "html": None}
    assert shown == [
        {**plan, "max_concurrent_moves_per_broker": 5},
        {
            "plan": Path("p"),
            "snapshot": Path("s"),
            "throttle": "5Mi",
            "max_concurrent_moves_per_broker": 2,
            "html": Path("h"),
        },
    ]
    usual = {"bootstrap_server": "h:1", "out": Path("s")}
    assert taken == [
        {
            **usual,
            "load_window": None,
            "load_percentile": None,
            "load_by_hour_of_day": False,
            "load_growth": None,
            "capacity": (),
        },
        {
            **usual,
            "load_window": "1h",
            "load_percentile": 95,
            "load_by_hour_of_day": True,
            "load_growth": "7d",
            "capacity": ["2Ti", "7=4Ti"],
        },
    ]


def test_version_is_that_of_the_distribution() -> None:
    assert run("--version") == (0, f"ballast {version('ballast')}\n")


@pytest.mark.parametrize(("shell", "name"), [("bash", "_BALLAST_COMPLETE"), ("zsh", "compdef")])
def test_completion_is_a_script_of_the_shell(
    monkeypatch: pytest.MonkeyPatch, shell: str, name: str
) -> None:
    monkeypatch.setenv("_TYPER_COMPLETE_TEST_DISABLE_SHELL_DETECTION", "1")
    code, script = run("--show-completion", shell)
    assert code == 0
    assert name in script


@pytest.mark.parametrize(
    ("module", "absent"),
    [
        ("ballast.cli.app", ["ballast.broker", "ballast.kube", "ballast.planner", "numpy", "rich"]),
        ("ballast.cli.servers.broker", ["ballast.cli.demo", "ballast.kube", "kopf", "rich"]),
        ("ballast.cli.servers.controller", ["ballast.cli.demo", "ballast.kube", "kopf", "rich"]),
    ],
)
def test_a_process_loads_only_what_its_command_needs(module: str, absent: list[str]) -> None:
    program = f"import {module}, sys; print(*sys.modules)"
    words = (sys.executable, "-c", program)
    modules = subprocess.run(words, check=True, capture_output=True, text=True).stdout.split()
    assert module in modules
    assert [name for name in absent if name in modules] == []
