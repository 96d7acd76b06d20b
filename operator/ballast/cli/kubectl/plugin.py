"""``kubectl ballast``: broker sets and reassignments, for the person at the terminal.

kubectl finds the program ``kubectl-ballast`` on the PATH. It needs nothing of the operator: it asks
the API server through kubectl, and so as the user, in the cluster and namespace of the user.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated

import typer
from rich.text import Text

from ballast.cli.kubectl.actions import Action, ActionRefused, approve, set_desired_state
from ballast.cli.kubectl.client import (
    BROKER_SETS,
    REASSIGNMENTS,
    ClusterFlags,
    Document,
    Kubectl,
    KubectlFailed,
    ObjectNotFound,
)
from ballast.cli.kubectl.objects import Reassignment, clean
from ballast.cli.kubectl.plan import (
    PlanNotShown,
    broker_rows,
    counts_whole_cluster,
    read_summary,
)
from ballast.cli.kubectl.tables import (
    broker_sets_table,
    brokers_table,
    console,
    plan_bars,
    plan_lines,
    plan_table,
    reassignments_table,
)
from ballast.cli.kubectl.watch import follow

EXIT_FAILED = 1
EXIT_INTERRUPTED = 130
_MOST_BROKERS = 50

app = typer.Typer(
    name="kubectl ballast",
    help="Show broker sets and partition reassignments, and what becomes of them.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    add_completion=False,
)

Name = Annotated[str, typer.Argument(help="Name of the PartitionReassignment.")]
Namespace = Annotated[
    str | None, typer.Option("--namespace", "-n", help="As in kubectl.", show_default=False)
]
Context = Annotated[str | None, typer.Option("--context", help="As in kubectl.")]
Kubeconfig = Annotated[str | None, typer.Option("--kubeconfig", help="As in kubectl.")]


def main() -> None:
    """Run the plugin: the console script ``kubectl-ballast``."""
    app(prog_name="kubectl ballast")


@app.callback()
def outer(
    context: typer.Context,
    namespace: Namespace = None,
    kube_context: Context = None,
    kubeconfig: Kubeconfig = None,
) -> None:
    """Show broker sets and partition reassignments, and what becomes of them."""
    context.obj = ClusterFlags(namespace=namespace, context=kube_context, kubeconfig=kubeconfig)


@app.command()
def status(
    context: typer.Context,
    namespace: Namespace = None,
    kube_context: Context = None,
    kubeconfig: Kubeconfig = None,
) -> None:
    """Show the broker sets of a namespace, their brokers, and the reassignments."""
    kubectl = _kubectl(context, namespace, kube_context, kubeconfig)
    with _failures():
        broker_sets = kubectl.list(BROKER_SETS)
        reassignments = [Reassignment(document) for document in kubectl.list(REASSIGNMENTS)]
    out = console()
    if not broker_sets and not reassignments:
        out.print("No broker sets and no reassignments here.")
        return
    if broker_sets:
        out.print(broker_sets_table(broker_sets))
    if any(document.get("status", {}).get("brokers") for document in broker_sets):
        out.print()
        out.print(brokers_table(broker_sets))
    if reassignments:
        if broker_sets:
            out.print()
        out.print(reassignments_table(reassignments))


@app.command()
def plan(
    context: typer.Context,
    name: Name,
    all_brokers: Annotated[
        bool, typer.Option("--all-brokers", help="Show them all, however many.")
    ] = False,
    namespace: Namespace = None,
    kube_context: Context = None,
    kubeconfig: Kubeconfig = None,
) -> None:
    """Show what a reassignment's plan moves: each broker before and after."""
    kubectl = _kubectl(context, namespace, kube_context, kubeconfig)
    with _failures():
        reassignment = Reassignment(kubectl.get(REASSIGNMENTS, name))
        summary = read_summary(kubectl, reassignment)
        rows = broker_rows(summary, reassignment, _broker_set(kubectl, reassignment))
    out = console()
    for line in plan_lines(summary, reassignment):
        out.print(Text(line), soft_wrap=True)
    of_what = "the whole cluster" if counts_whole_cluster(rows) else "the plan's partitions"
    out.print(f"Counts are those of {of_what}; sizes with ~ are estimates.\n")
    shown = rows
    if len(rows) > _MOST_BROKERS and not all_brokers:
        most = sorted(rows, key=lambda row: (-row.changes, row.broker_id))[:_MOST_BROKERS]
        shown = tuple(sorted(most, key=lambda row: row.broker_id))
    out.print(plan_table(shown))
    out.print()
    out.print(plan_bars(shown))
    if len(shown) < len(rows):
        out.print(f"\n{len(rows) - len(shown)} brokers that change less: --all-brokers")


@app.command(name="approve")
def approve_plan(
    context: typer.Context,
    name: Name,
    digest: Annotated[
        str | None, typer.Option("--digest", help="Approve only if this is the plan.")
    ] = None,
    namespace: Namespace = None,
    kube_context: Context = None,
    kubeconfig: Kubeconfig = None,
) -> None:
    """Approve the plan that a reassignment shows: this one and no other may run."""
    kubectl = _kubectl(context, namespace, kube_context, kubeconfig)
    with _failures():
        for line in approve(kubectl, name, digest):
            typer.echo(line)


def _add_command(action: Action, text: str) -> None:
    def run(
        context: typer.Context,
        name: Name,
        namespace: Namespace = None,
        kube_context: Context = None,
        kubeconfig: Kubeconfig = None,
    ) -> None:
        kubectl = _kubectl(context, namespace, kube_context, kubeconfig)
        with _failures():
            typer.echo(set_desired_state(kubectl, name, action))

    app.command(name=action.value, help=text)(run)


_add_command(Action.PAUSE, "Make no new moves; what is under way goes on.")
_add_command(Action.RESUME, "Go on with a reassignment that was paused.")
_add_command(Action.CANCEL, "Take back what is pending and end; what has moved stays.")
_add_command(Action.ROLL_BACK, "Bring everything back to where it was.")


@app.command()
def watch(
    context: typer.Context,
    name: Name,
    interval: Annotated[float, typer.Option(min=0.2, max=60, help="Seconds.")] = 2.0,
    namespace: Namespace = None,
    kube_context: Context = None,
    kubeconfig: Kubeconfig = None,
) -> None:
    """Follow a reassignment to its end: exit code 0 if it Completed, 1 if not."""
    kubectl = _kubectl(context, namespace, kube_context, kubeconfig)
    with _failures():
        try:
            completed = follow(kubectl, name, console(), interval)
        except KeyboardInterrupt as error:
            raise typer.Exit(EXIT_INTERRUPTED) from error
    if not completed:
        raise typer.Exit(EXIT_FAILED)


def _kubectl(
    context: typer.Context, namespace: str | None, kube_context: str | None, kubeconfig: str | None
) -> Kubectl:
    flags = ClusterFlags(namespace=namespace, context=kube_context, kubeconfig=kubeconfig)
    return Kubectl(flags.over(context.obj))


def _broker_set(kubectl: Kubectl, reassignment: Reassignment) -> Document | None:
    try:
        return (
            kubectl.get(BROKER_SETS, reassignment.broker_set) if reassignment.broker_set else None
        )
    except ObjectNotFound:
        return None


@contextmanager
def _failures() -> Iterator[None]:
    """End with 1 and the reason on the error stream."""
    try:
        yield
    except (KubectlFailed, PlanNotShown, ActionRefused) as error:
        for line in str(error).splitlines():
            typer.echo(f"error: {clean(line)}", err=True)
        raise typer.Exit(EXIT_FAILED) from error
