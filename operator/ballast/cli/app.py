"""The command line: its commands and options. Packages beside this module carry them out.

Each command function imports the module that carries it out. So a process loads only what its
command needs: a broker has neither the demo nor the terminal library in memory.
"""

from pathlib import Path
from typing import Annotated

import typer

from ballast.cli import kubernetes
from ballast.cli.kubernetes import stoppable

app = typer.Typer(
    name="ballast",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
)

plan_app = typer.Typer(
    name="plan", help="Make plans, show them, and take snapshots.", no_args_is_help=True
)
app.add_typer(plan_app)
app.add_typer(kubernetes.app)


def print_version(is_given: bool) -> None:
    """Print the version of the installed distribution, and exit, if the option is given."""
    if is_given:
        from importlib import metadata

        typer.echo(f"ballast {metadata.version('ballast')}")
        raise typer.Exit


Version = Annotated[
    bool,
    typer.Option(
        "--version", callback=print_version, is_eager=True, help="Show the version and exit."
    ),
]


@app.callback()
def ballast(*, version: Version = False) -> None:
    """Run Kafka-protocol brokers and move their partitions safely."""
    del version  # Its callback has printed it.


Bootstrap = Annotated[
    str, typer.Option("--bootstrap-server", metavar="HOST:PORT[,…]", help="Brokers to connect to.")
]
Override = Annotated[
    list[str] | None,
    typer.Option("--override", metavar="NAME=VALUE", help="Overrides a property; repeatable."),
]


@app.command()
def up(
    brokers: Annotated[int, typer.Option(min=1, max=50, help="Number of brokers.")] = 3,
    controllers: Annotated[
        int, typer.Option(min=1, max=9, help="Number of controller candidates.")
    ] = 2,
    directory: Annotated[Path, typer.Option("--dir", help="The cluster's folder.")] = Path(
        "ballast-data"
    ),
    base_port: Annotated[int, typer.Option(min=1024, max=65000, help="Broker 1's port.")] = 19092,
    log_dirs: Annotated[
        int, typer.Option(min=1, max=9, help="Log directories of each broker.")
    ] = 1,
    no_restart: Annotated[
        bool, typer.Option("--no-restart", help="Do not restart processes that die.")
    ] = False,
    override: Override = None,
) -> None:
    """Run ZooKeeper, brokers and controller candidates on this machine, in the foreground."""
    from ballast.cli.servers import up as command

    raise typer.Exit(
        command.main(
            brokers=brokers,
            controllers=controllers,
            directory=directory,
            base_port=base_port,
            log_dirs=log_dirs,
            restart=not no_restart,
            overrides=tuple(override or ()),
        )
    )


@app.command()
def run(
    bootstrap_server: Bootstrap,
    file: Annotated[Path, typer.Option("-f", "--file", help="The PartitionReassignment manifest.")],
    state_dir: Annotated[
        Path | None, typer.Option(help="Folder of the saved state; beside the manifest by default.")
    ] = None,
    output: Annotated[str, typer.Option(help="text, or json: one status a line.")] = "text",
    poll_interval: Annotated[
        float, typer.Option(min=0.05, max=60, help="Seconds between reads of the cluster.")
    ] = 1.0,
) -> None:
    """Execute a PartitionReassignment manifest: 0 succeeded, 1 failed or cancelled, 2 invalid."""
    from ballast.cli.run import run as command

    raise typer.Exit(
        command.main(
            file=file,
            bootstrap_server=bootstrap_server,
            state_dir=state_dir,
            output=output,
            poll_interval_s=poll_interval,
        )
    )


@app.command()
def reassign(
    bootstrap_server: Annotated[str | None, typer.Option("--bootstrap-server")] = None,
    execute: Annotated[bool, typer.Option("--execute", help="Start the reassignment.")] = False,
    verify: Annotated[
        bool, typer.Option("--verify", help="Report progress; clear throttles at the end.")
    ] = False,
    cancel: Annotated[bool, typer.Option("--cancel", help="Cancel active reassignments.")] = False,
    list_: Annotated[bool, typer.Option("--list", help="List active reassignments.")] = False,
    generate: Annotated[bool, typer.Option("--generate", help="Propose an assignment.")] = False,
    reassignment_json_file: Annotated[Path | None, typer.Option()] = None,
    throttle: Annotated[int | None, typer.Option(help="Bytes/s between brokers.")] = None,
    replica_alter_log_dirs_throttle: Annotated[
        int | None, typer.Option(help="Bytes/s between the log directories of a broker.")
    ] = None,
    additional: Annotated[bool, typer.Option("--additional")] = False,
    preserve_throttles: Annotated[bool, typer.Option("--preserve-throttles")] = False,
    timeout: Annotated[int | None, typer.Option(help="Milliseconds.")] = None,
    topics_to_move_json_file: Annotated[Path | None, typer.Option()] = None,
    broker_list: Annotated[str | None, typer.Option(metavar="ID,…")] = None,
    disable_rack_aware: Annotated[bool, typer.Option("--disable-rack-aware")] = False,
) -> None:
    """Do what Kafka's kafka-reassign-partitions does, with its flags, files and messages."""
    from ballast.cli.reassign import reassign as command

    raise typer.Exit(
        command.main(
            bootstrap_server=bootstrap_server,
            execute=execute,
            verify=verify,
            cancel=cancel,
            list_active=list_,
            generate_=generate,
            reassignment_json_file=reassignment_json_file,
            throttle=throttle,
            log_dirs_throttle=replica_alter_log_dirs_throttle,
            additional=additional,
            preserve_throttles=preserve_throttles,
            timeout_ms=timeout,
            topics_to_move_json_file=topics_to_move_json_file,
            broker_list=broker_list,
            disable_rack_aware=disable_rack_aware,
        )
    )


@app.command()
def broker(
    properties: Annotated[Path | None, typer.Argument(help="A properties file.")] = None,
    override: Override = None,
    pod: Annotated[
        bool, typer.Option("--pod", help="Take id, addresses and rack from the pod of a BrokerSet.")
    ] = False,
) -> None:
    """Run one broker; its configuration has Kafka's names."""
    with stoppable():
        from ballast.cli.servers import broker as command

        raise typer.Exit(
            command.main(properties=properties, overrides=tuple(override or ()), pod=pod)
        )


@app.command()
def controller(
    properties: Annotated[Path | None, typer.Argument(help="A properties file.")] = None,
    override: Override = None,
) -> None:
    """Run one controller candidate; its configuration has Kafka's names."""
    with stoppable():
        from ballast.cli.servers import controller as command

        raise typer.Exit(command.main(properties=properties, overrides=tuple(override or ())))


@app.command()
def demo(
    directory: Annotated[
        Path | None, typer.Option("--dir", help="The cluster's folder; a temporary one by default.")
    ] = None,
    base_port: Annotated[int, typer.Option(min=1024, max=65000, help="Broker 1's port.")] = 19092,
) -> None:
    """Move every partition off a broker while a client writes and the controller is killed."""
    from ballast.cli.demo import demo as command

    raise typer.Exit(command.main(directory=directory, base_port=base_port))


@plan_app.command("generate")
def plan_generate(
    snapshot: Annotated[Path, typer.Option(help="A cluster as ballast-snapshot/v1.")],
    strategy: Annotated[
        str,
        typer.Option(
            help="AddBrokers, RemoveBrokers, Rebalance, SetReplicationFactor, PreferredLeaders, "
            "RepairRacks or Stock."
        ),
    ],
    out: Annotated[Path, typer.Option(help="File of the plan; .gz compresses it.")],
    broker_ids: Annotated[
        str, typer.Option(metavar="ID,…", help="Brokers to add or remove, or those to use.")
    ] = "",
    replication_factor: Annotated[int | None, typer.Option()] = None,
    include: Annotated[
        list[str] | None, typer.Option(metavar="REGEX", help="Topics to include; repeatable.")
    ] = None,
    exclude: Annotated[
        list[str] | None, typer.Option(metavar="REGEX", help="Topics to exclude; repeatable.")
    ] = None,
    max_replica_moves: Annotated[int | None, typer.Option()] = None,
    max_bytes_to_move: Annotated[str | None, typer.Option(metavar="QUANTITY")] = None,
    start_index: Annotated[int | None, typer.Option(help="For Stock: the first broker.")] = None,
    objective: Annotated[
        str,
        typer.Option(help="Bytes or BytesInPerSecond: what is balanced besides replica counts."),
    ] = "Bytes",
    seed: Annotated[int, typer.Option(help="Decides between equally good plans.")] = 0,
    engine: Annotated[str, typer.Option(help="inprocess or spark.")] = "inprocess",
    format_: Annotated[str, typer.Option("--format", help="ballast or kafka.")] = "ballast",
) -> None:
    """Make a plan from a snapshot: 0 done, 1 infeasible, 2 invalid."""
    from ballast.cli.plan import generate as command

    raise typer.Exit(
        command.main(
            command.GenerateOptions(
                snapshot=snapshot,
                strategy=strategy,
                out=out,
                broker_ids=broker_ids,
                replication_factor=replication_factor,
                include=tuple(include or ()),
                exclude=tuple(exclude or ()),
                max_replica_moves=max_replica_moves,
                max_bytes_to_move=max_bytes_to_move,
                start_index=start_index,
                objective=objective,
                seed=seed,
                engine=engine,
                format=format_,
            )
        )
    )


@plan_app.command("snapshot")
def plan_snapshot(
    bootstrap_server: Bootstrap,
    out: Annotated[Path, typer.Option(help="File of the snapshot; .gz compresses it.")],
    load_window: Annotated[
        str | None, typer.Option(metavar="TIME", help="Adds write rates of the last 1h, 7d…")
    ] = None,
    load_percentile: Annotated[
        int | None,
        typer.Option(min=1, max=100, help="Percentile of the rates; their average if absent."),
    ] = None,
    load_by_hour_of_day: Annotated[
        bool,
        typer.Option(
            "--load-by-hour-of-day", help="Uses the rates of the busiest hour of the day, UTC."
        ),
    ] = False,
    load_growth: Annotated[
        str | None,
        typer.Option(metavar="TIME", help="Projects the growth of the rates by this time."),
    ] = None,
    capacity: Annotated[
        list[str] | None,
        typer.Option(help="Size of brokers: 2Ti, 7=4Ti; of log directories: 7:/data=1Ti."),
    ] = None,
) -> None:
    """Write a running cluster as ballast-snapshot/v1: 0 done, 1 no answer, 2 invalid."""
    from ballast.cli.plan import snapshot as command

    raise typer.Exit(
        command.main(
            bootstrap_server=bootstrap_server,
            out=out,
            load_window=load_window,
            load_percentile=load_percentile,
            load_by_hour_of_day=load_by_hour_of_day,
            load_growth=load_growth,
            capacity=capacity or (),
        )
    )


@plan_app.command("show")
def plan_show(
    plan: Annotated[Path, typer.Argument(help="A plan as ballast-plan/v1.")],
    snapshot: Annotated[
        Path | None, typer.Option(help="Snapshot the plan was made from; shows all details.")
    ] = None,
    throttle: Annotated[
        str | None,
        typer.Option(metavar="QUANTITY", help="Bytes/s of each broker, to estimate the duration."),
    ] = None,
    max_concurrent_moves_per_broker: Annotated[int, typer.Option(min=1)] = 5,
    html: Annotated[Path | None, typer.Option(help="Also writes an HTML page with charts.")] = None,
) -> None:
    """Show a plan's moves, its effect on each broker, and its duration."""
    from ballast.cli.plan import show as command

    raise typer.Exit(
        command.main(
            command.ShowOptions(
                plan=plan,
                snapshot=snapshot,
                throttle=throttle,
                max_concurrent_moves_per_broker=max_concurrent_moves_per_broker,
                html=html,
            )
        )
    )


def main() -> None:
    """Run the program."""
    app()
