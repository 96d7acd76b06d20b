"""The command line's part for Kubernetes: what the chart's containers run."""

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, NoReturn

import typer

app = typer.Typer()

PodName = Annotated[str, typer.Option(envvar="POD_NAME", help="This replica's name, unique.")]
PodNamespace = Annotated[str, typer.Option(envvar="POD_NAMESPACE", help="Where the Lease is kept.")]
PodAddress = Annotated[
    str, typer.Option(envvar="POD_IP", help="Where brokers reach this replica's controllers.")
]
HttpPort = Annotated[
    int,
    typer.Option(min=0, max=65535, envvar="BALLAST_HTTP_PORT", help="Of probes and metrics."),
]
ClusterDomain = Annotated[
    str, typer.Option(envvar="BALLAST_CLUSTER_DOMAIN", help="The cluster's DNS domain.")
]
PullSecrets = Annotated[list[str] | None, typer.Option(help="Name of a Secret; repeatable.")]
LeaseDuration = Annotated[float, typer.Option(help="Seconds until another replica may take over.")]
LeaseDeadline = Annotated[
    float, typer.Option(help="Seconds without renewal until this replica ends.")
]


@contextmanager
def stoppable() -> Iterator[None]:
    """End with 0 at SIGTERM or SIGINT, until the process has its own way to stop.

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
        str, typer.Option(envvar="BALLAST_BROKER_IMAGE", help="Image of brokers by default.")
    ],
    pod_name: PodName,
    pod_namespace: PodNamespace,
    pod_ip: PodAddress,
    namespace: Annotated[
        list[str] | None,
        typer.Option(envvar="BALLAST_NAMESPACES", help="Whose objects are tended; all by default."),
    ] = None,
    broker_pods: Annotated[
        str, typer.Option(metavar="JSON", help="Of brokers' pods: imagePullSecrets and the like.")
    ] = "",
    cluster_domain: ClusterDomain = "cluster.local",
    controller_ports: Annotated[
        str, typer.Option(metavar="FIRST-LAST", help="Of controllers; any free ones by default.")
    ] = "",
    http_port: HttpPort = 8080,
    watch_nodes: Annotated[
        bool, typer.Option(envvar="BALLAST_WATCH_NODES", help="Follow Nodes; needs rights on them.")
    ] = True,
    spark_image: Annotated[
        str, typer.Option(envvar="BALLAST_SPARK_IMAGE", help="Image of plan jobs; none without it.")
    ] = "",
    spark_image_pull_policy: Annotated[
        str, typer.Option(help="Of plan jobs, as of any pod.")
    ] = "IfNotPresent",
    spark_image_pull_secret: PullSecrets = None,
    spark_service_account: Annotated[
        str, typer.Option(help="What the drivers of plan jobs run as.")
    ] = "ballast-spark",
    spark_pod: Annotated[
        str, typer.Option(metavar="JSON", help="Where the pods of plan jobs go, as in any pod.")
    ] = "",
    lease_name: Annotated[
        str, typer.Option(help="Different for operators that share a namespace.")
    ] = "ballast-operator",
    lease_duration: LeaseDuration = 15.0,
    lease_renew_deadline: LeaseDeadline = 10.0,
    lease_retry: Annotated[float, typer.Option(help="Seconds between renewals.")] = 2.0,
) -> None:
    """Run the Kubernetes operator: it tends BrokerSets and PartitionReassignments."""
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
    data_dir: Annotated[Path, typer.Option(help="Where its data is.")],
    host_pattern: Annotated[str, typer.Option(help="The servers' hosts, with {ordinal}.")],
    replicas_file: Annotated[Path | None, typer.Option(help="Holds the number of servers.")] = None,
    ports: Annotated[str, typer.Option(help="Of clients, peers, elections, and HTTP.")] = (
        "2181,2888,3888,8080"
    ),
    listen_everywhere: Annotated[bool, typer.Option(help="Not only on the host's address.")] = True,
    heap_percentage: Annotated[int, typer.Option(min=10, max=90, help="Of the memory limit.")] = 50,
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
        list[str] | None, typer.Option(help="A namespace that was watched; one option each.")
    ] = None,
    all_namespaces: Annotated[bool, typer.Option("--all-namespaces")] = False,
    operator_labels: Annotated[
        str | None, typer.Option(metavar="NAME=VALUE,…", help="Wait until its pods are gone.")
    ] = None,
    check: Annotated[
        bool, typer.Option("--check", help="Only fail if a reassignment moves partitions.")
    ] = False,
) -> None:
    """Take the operator's finalizers off what it tended, after the operator itself is gone."""
    from ballast.cli.servers import uninstall as command

    raise typer.Exit(
        command.main(
            is_check=check,
            namespaces=(None,) if all_namespaces else tuple(namespace or ()),
            operator_labels=operator_labels,
        )
    )
