"""The commands that the chart's containers run."""

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, NoReturn

import typer

app = typer.Typer()

PodName = Annotated[str, typer.Option(envvar="POD_NAME", help="This replica's name, unique.")]
PodNamespace = Annotated[str, typer.Option(envvar="POD_NAMESPACE", help="Namespace of the Lease.")]
PodAddress = Annotated[
    str,
    typer.Option(
        envvar="POD_IP", help="Address at which brokers reach this replica's controllers."
    ),
]
HttpPort = Annotated[
    int,
    typer.Option(min=0, max=65535, envvar="BALLAST_HTTP_PORT", help="Port of probes and metrics."),
]
ClusterDomain = Annotated[
    str, typer.Option(envvar="BALLAST_CLUSTER_DOMAIN", help="The cluster's DNS domain.")
]
PullSecrets = Annotated[list[str] | None, typer.Option(help="Name of a Secret; repeatable.")]
LeaseDuration = Annotated[float, typer.Option(help="Seconds until another replica may take over.")]
LeaseDeadline = Annotated[
    float, typer.Option(help="Seconds without renewal until this replica ends.")
]
Namespaces = Annotated[
    list[str] | None,
    typer.Option(
        envvar="BALLAST_NAMESPACES",
        help="Namespaces whose objects are reconciled; all by default.",
    ),
]
WatchNodes = Annotated[
    bool, typer.Option(envvar="BALLAST_WATCH_NODES", help="Watch Nodes; needs rights on them.")
]
ControllerPorts = Annotated[
    str,
    typer.Option(metavar="FIRST-LAST", help="Ports of controllers; any free port by default."),
]
BrokerPods = Annotated[
    str, typer.Option(metavar="JSON", help="Defaults of broker pods, such as imagePullSecrets.")
]


@contextmanager
def stoppable() -> Iterator[None]:
    """Exit with 0 at SIGTERM or SIGINT, until the process installs its own handlers.

    The kernel drops a signal to process 1 of a container that has no handler for it: one sent
    while modules are still imported would be lost, and the process killed later.
    """

    def end(*_: object) -> NoReturn:
        raise SystemExit(0)

    before = {number: signal.signal(number, end) for number in (signal.SIGTERM, signal.SIGINT)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


@app.command()
def operator(
    broker_image: Annotated[
        str, typer.Option(envvar="BALLAST_BROKER_IMAGE", help="Default image of brokers.")
    ],
    pod_name: PodName,
    pod_namespace: PodNamespace,
    pod_ip: PodAddress,
    namespace: Namespaces = None,
    broker_pods: BrokerPods = "",
    cluster_domain: ClusterDomain = "cluster.local",
    controller_ports: ControllerPorts = "",
    http_port: HttpPort = 8080,
    watch_nodes: WatchNodes = True,
    spark_image: Annotated[
        str,
        typer.Option(
            envvar="BALLAST_SPARK_IMAGE", help="Image of plan jobs; no plan jobs without it."
        ),
    ] = "",
    spark_image_pull_policy: Annotated[
        str, typer.Option(help="Image pull policy of plan jobs.")
    ] = "IfNotPresent",
    spark_image_pull_secret: PullSecrets = None,
    spark_service_account: Annotated[
        str, typer.Option(help="Service account of the drivers of plan jobs.")
    ] = "ballast-spark",
    spark_pod: Annotated[
        str, typer.Option(metavar="JSON", help="Scheduling fields of the pods of plan jobs.")
    ] = "",
    lease_name: Annotated[
        str, typer.Option(help="Name of the Lease; unique in its namespace.")
    ] = "ballast-operator",
    lease_duration: LeaseDuration = 15.0,
    lease_renew_deadline: LeaseDeadline = 10.0,
    lease_retry: Annotated[float, typer.Option(help="Seconds between renewals.")] = 2.0,
) -> None:
    """Run the Kubernetes operator, which reconciles BrokerSets and PartitionReassignments."""
    with stoppable():
        from ballast.cli.servers import operator as command

        arguments = command.OperatorArguments(
            namespaces=tuple(namespace or ()),
            lease_name=lease_name,
            lease_duration_s=lease_duration,
            lease_renew_deadline_s=lease_renew_deadline,
            lease_retry_s=lease_retry,
            spark_image=spark_image,
            spark_image_pull_policy=spark_image_pull_policy,
            spark_image_pull_secrets=tuple(spark_image_pull_secret or ()),
            spark_service_account=spark_service_account,
            spark_pod=spark_pod,
            broker_image=broker_image,
            broker_pods=broker_pods,
            controller_ports=controller_ports,
            pod_name=pod_name,
            pod_namespace=pod_namespace,
            pod_ip=pod_ip,
            cluster_domain=cluster_domain,
            http_port=http_port,
            is_watching_nodes=watch_nodes,
        )
        raise typer.Exit(command.main(arguments))


@app.command()
def zookeeper(
    data_dir: Annotated[Path, typer.Option(help="Data directory.")],
    host_pattern: Annotated[str, typer.Option(help="Host names of the servers, with {ordinal}.")],
    replicas_file: Annotated[
        Path | None, typer.Option(help="File that holds the number of servers.")
    ] = None,
    ports: Annotated[str, typer.Option(help="Ports of clients, peers, elections and HTTP.")] = (
        "2181,2888,3888,8080"
    ),
    listen_everywhere: Annotated[
        bool, typer.Option(help="Listen on all addresses, not only the host's.")
    ] = True,
    heap_percentage: Annotated[
        int, typer.Option(min=10, max=90, help="Java heap, in percent of the memory limit.")
    ] = 50,
) -> None:
    """Run one server of a ZooKeeper ensemble, from the jars that PySpark brings; needs Java."""
    with stoppable():
        from ballast.cli.servers import zookeeper as command

        raise typer.Exit(
            command.main(
                data_dir=data_dir,
                replicas_file=replicas_file,
                heap_percentage=heap_percentage,
                host_pattern=host_pattern,
                ports=ports,
                is_listening_everywhere=listen_everywhere,
            )
        )


@app.command()
def uninstall(
    namespace: Annotated[
        list[str] | None, typer.Option(help="A namespace that was watched; repeatable.")
    ] = None,
    all_namespaces: Annotated[bool, typer.Option("--all-namespaces")] = False,
    operator_labels: Annotated[
        str | None,
        typer.Option(
            metavar="NAME=VALUE,…", help="Wait until the pods with these labels are gone."
        ),
    ] = None,
    check: Annotated[
        bool, typer.Option("--check", help="Only fail if a reassignment moves partitions.")
    ] = False,
) -> None:
    """Remove the operator's finalizers from its objects, once the operator has stopped."""
    from ballast.cli.servers import uninstall as command

    raise typer.Exit(
        command.main(
            is_check=check,
            namespaces=(None,) if all_namespaces else tuple(namespace or ()),
            operator_labels=operator_labels,
        )
    )
