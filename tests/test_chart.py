"""The chart agrees with the repository and with itself; where Helm is there, it renders."""

import filecmp
import json
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).parent.parent
CHART = ROOT / "charts" / "ballast"
CRDS = ROOT / "crds"
ALERTS = ROOT / "tests" / "alerts.yaml"
SCHEMA = json.loads((CHART / "values.schema.json").read_text())
VALUES = yaml.safe_load((CHART / "values.yaml").read_text())

BROKER = ROOT / "operator" / "ballast" / "broker"
MEMBER = (ROOT / "operator" / "ballast" / "ensemble" / "metrics.py").read_text()

EVERYTHING = (
    "podMonitor.enabled=true",
    "prometheusRule.enabled=true",
    "dashboards.enabled=true",
    "networkPolicy.enabled=true",
    "spark.enabled=true",
)
PRIVILEGES = ("privileged", "hostNetwork", "hostPID", "hostPath", "docker.sock")

Document = dict[str, Any]

needs_helm = pytest.mark.skipif(not shutil.which("helm"), reason="needs helm on PATH")


def promtool() -> str:
    """Return the program, from PATH or out of Debian's package of Prometheus; skip without both."""
    on_path = shutil.which("promtool")
    if on_path is not None:
        return on_path
    unpacked = ROOT / ".venv" / "prometheus"
    found = unpacked / "usr" / "bin" / "promtool"
    if not found.exists():
        if not (shutil.which("apt-get") and shutil.which("dpkg-deb")):
            pytest.skip("needs promtool on PATH, or apt-get to fetch it")
        unpacked.mkdir(parents=True, exist_ok=True)
        for words in (
            ("apt-get", "update", "-qq"),
            ("apt-get", "download", "-qq", "prometheus"),
            ("sh", "-c", "dpkg-deb -x prometheus_*.deb . && rm prometheus_*.deb"),
        ):
            subprocess.run(words, cwd=unpacked, capture_output=True, check=False, timeout=100)
    if not found.exists():
        pytest.skip("needs promtool on PATH: Debian's package could not be fetched")
    return str(found)


def render(*values: str, release: str = "ballast") -> list[Document]:
    options = [word for value in values for word in ("--set", value)]
    words = ("helm", "template", release, str(CHART), "-n", "here", *options)
    done = subprocess.run(words, capture_output=True, text=True, check=True)
    return [found for found in yaml.safe_load_all(done.stdout) if found]


def of_kind(documents: list[Document], kind: str) -> list[Document]:
    return [found for found in documents if found["kind"] == kind]


def pod_specs(documents: list[Document]) -> list[Document]:
    workloads = [found for found in documents if "template" in found.get("spec", {})]
    pods = [found["spec"]["template"]["spec"] for found in workloads]
    return pods + [found["spec"] for found in of_kind(documents, "Pod")]


def undescribed(values: Any, schema: Any, path: str = "") -> list[str]:
    """Return the paths of values that the schema does not name."""
    if not isinstance(values, dict) or "properties" not in schema:
        return []
    known = schema["properties"]
    missing = [f"{path}{name}" for name in values if name not in known]
    for name in values.keys() & known.keys():
        missing += undescribed(values[name], known[name], f"{path}{name}.")
    return missing


def open_objects(schema: Any, path: str = "") -> list[str]:
    """Return the paths of objects with named fields that admit others."""
    if not isinstance(schema, dict):
        return []
    found = []
    if "properties" in schema and schema.get("additionalProperties") is not False:
        found.append(path)
    for name, part in schema.get("properties", {}).items():
        found += open_objects(part, f"{path}{name}.")
    return found


def test_its_custom_resources_are_the_repositorys() -> None:
    names = sorted(path.name for path in CRDS.glob("*.yaml"))
    assert sorted(path.name for path in (CHART / "crds").iterdir()) == names
    assert filecmp.cmpfiles(CRDS, CHART / "crds", names, shallow=False)[0] == names


def test_every_value_is_in_the_schema() -> None:
    assert undescribed(VALUES, SCHEMA) == []
    assert open_objects(SCHEMA) == []


def test_every_metric_that_rules_and_dashboards_name_exists() -> None:
    texts = [path.read_text() for path in (ROOT / "operator").rglob("*metrics*.py")]
    known = set(re.findall(r"ballast_[a-z_]+", "\n".join(texts)))
    gauges = "\n".join(path.read_text() for path in BROKER.rglob("*gauges*.py"))
    own = re.findall(r'^ +"([a-z_]+)",$', gauges, re.MULTILINE)
    known |= {f"ballast_broker_{name}" for name in own}
    known |= {f"ballast_zookeeper_{name}" for name in re.findall(r'"([a-z_]+)"', MEMBER)}
    known |= {f"ballast_partitions_{name}" for name in re.findall(r'"([a-z_]+)"', "\n".join(texts))}
    for path in (*CHART.glob("rules/*.yaml"), *CHART.glob("dashboards/*.json")):
        named = set(re.findall(r"ballast_[a-z_]+", path.read_text()))
        plain = {re.sub(r"_(total|bucket)$", "", name) for name in named}
        assert plain <= known, path.name


def test_each_alert_fires_when_it_should_and_not_otherwise() -> None:
    """tests/alerts.yaml has the series; promtool is Prometheus' own."""
    words = (promtool(), "test", "rules", str(ALERTS))
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_every_alert_is_shown_to_fire() -> None:
    rules = yaml.safe_load((CHART / "rules" / "ballast.yaml").read_text())
    names = {rule["alert"] for group in rules["groups"] for rule in group["rules"]}
    assert names <= set(re.findall(r"Ballast[A-Za-z]+", ALERTS.read_text()))


@needs_helm
def test_pods_are_restricted() -> None:
    documents = render(*EVERYTHING)
    specs = pod_specs(documents)
    assert len(specs) == 5
    workloads = [spec for spec in specs if "restartPolicy" not in spec]
    assert [spec["shareProcessNamespace"] for spec in workloads] == [True, True]
    for spec in specs:
        assert spec["securityContext"]["runAsNonRoot"] is True
        assert spec["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}
        for container in spec["containers"]:
            assert container["securityContext"] == {
                "allowPrivilegeEscalation": False,
                "readOnlyRootFilesystem": True,
                "capabilities": {"drop": ["ALL"]},
            }
            assert container["resources"]["limits"]["memory"]
    text = json.dumps(documents)
    assert [word for word in PRIVILEGES if word in text] == []


@needs_helm
@pytest.mark.parametrize("namespaces", ["{here}", "{a,b}", "{*}"])
def test_nothing_is_granted_wholesale(namespaces: str) -> None:
    documents = render(f"watchNamespaces={namespaces}")
    for role in of_kind(documents, "Role") + of_kind(documents, "ClusterRole"):
        for rule in role["rules"]:
            assert "*" not in rule["verbs"] + rule["resources"] + rule["apiGroups"]
            assert "secrets" not in rule["resources"]


@needs_helm
def test_the_namespaces_that_are_watched() -> None:
    def roles(*values: str) -> set[tuple[str, str]]:
        documents = render(*values, "rbac.nodes=false")
        return {
            (found["kind"], found["metadata"].get("namespace", "-"))
            for found in documents
            if found["kind"].endswith("Role") and "hook" not in json.dumps(found["metadata"])
        }

    assert roles() == {("Role", "here"), ("Role", "-")}
    assert roles("watchNamespaces={a,b}") == {("Role", "a"), ("Role", "b"), ("Role", "-")}
    assert roles("watchNamespaces={*}") == {("ClusterRole", "-"), ("Role", "-")}


@needs_helm
def test_one_replica_is_recreated_and_has_no_budget() -> None:
    (deployment,) = of_kind(render("operator.replicas=1"), "Deployment")
    assert deployment["spec"]["strategy"] == {"type": "Recreate"}
    budgets = of_kind(render("operator.replicas=1"), "PodDisruptionBudget")
    assert [found["metadata"]["name"] for found in budgets] == ["ballast-zookeeper"]
    (deployment,) = of_kind(render(), "Deployment")
    assert deployment["spec"]["strategy"]["type"] == "RollingUpdate"


@needs_helm
def test_zookeepers_image_follows_the_operators() -> None:
    documents = render("image.repository=registry.example/a/ballast", "image.tag=1.2")
    (zookeeper,) = of_kind(documents, "StatefulSet")
    (container,) = zookeeper["spec"]["template"]["spec"]["containers"]
    assert container["image"] == "registry.example/a/ballast-spark:1.2"
    assert of_kind(render("zookeeper.enabled=false"), "StatefulSet") == []


@needs_helm
def test_zookeepers_own_image_is_its_own() -> None:
    documents = render("image.tag=1.2", "zookeeper.image.tag=1.1")
    (zookeeper,) = of_kind(documents, "StatefulSet")
    (container,) = zookeeper["spec"]["template"]["spec"]["containers"]
    assert container["image"] == "ballast-spark:1.1"


@needs_helm
def test_growth_and_a_new_version_of_the_chart_restart_no_zookeeper() -> None:
    (three,) = of_kind(render(), "StatefulSet")
    (five,) = of_kind(render("zookeeper.replicas=5"), "StatefulSet")
    assert (three["spec"]["replicas"], five["spec"]["replicas"]) == (3, 5)
    assert three["spec"]["template"] == five["spec"]["template"]
    labels = three["spec"]["template"]["metadata"]["labels"]
    assert not {"helm.sh/chart", "app.kubernetes.io/version"} & labels.keys()


@needs_helm
def test_all_that_zookeeper_needs_stays_when_the_release_goes() -> None:
    kept = {
        (found["kind"], found["metadata"]["name"])
        for found in render(*EVERYTHING)
        if found["metadata"].get("annotations", {}).get("helm.sh/resource-policy") == "keep"
    }
    name = "ballast-zookeeper"
    assert kept == {
        ("Service", name),
        ("Service", f"{name}-headless"),
        ("ConfigMap", name),
        ("StatefulSet", name),
        ("PodDisruptionBudget", name),
        ("NetworkPolicy", name),
    }


@needs_helm
def test_a_name_of_its_own_keeps_nobody_from_zookeeper_and_metrics() -> None:
    documents = render(*EVERYTHING, "nameOverride=streams")
    policies = {found["metadata"]["name"]: found for found in of_kind(documents, "NetworkPolicy")}
    clients, peers, _ = policies["ballast-zookeeper"]["spec"]["ingress"]
    admitted = [peer["podSelector"]["matchLabels"] for peer in clients["from"]]
    assert {
        "app.kubernetes.io/name": "ballast",
        "app.kubernetes.io/component": "broker",
    } in admitted
    (deployment,) = of_kind(documents, "Deployment")
    operator = deployment["spec"]["template"]["metadata"]["labels"]
    assert any(labels.items() <= operator.items() for labels in admitted)
    assert {"port": "http"} in peers["ports"], "members read each other's reports"
    monitors = of_kind(documents, "PodMonitor")
    assert len(monitors) == 3
    assert any(
        found["spec"]["selector"]["matchLabels"].items() <= operator.items() for found in monitors
    )
    for found in monitors:
        assert all(end["honorLabels"] for end in found["spec"]["podMetricsEndpoints"])


@needs_helm
def test_releases_that_share_a_namespace_have_leases_of_their_own() -> None:
    for release, lease in (("ballast", "ballast-operator"), ("other", "other-ballast-operator")):
        documents = render(release=release)
        (deployment,) = of_kind(documents, "Deployment")
        (container,) = deployment["spec"]["template"]["spec"]["containers"]
        assert f"--lease-name={lease}" in container["args"]
        (role,) = (found for found in of_kind(documents, "Role") if "lease" in str(found["rules"]))
        assert role["rules"][1]["resourceNames"] == [lease]


@needs_helm
def test_brokers_have_the_installations_secrets_and_security_context() -> None:
    documents = render(
        "imagePullSecrets[0].name=registry",
        "image.pullPolicy=Always",
        "podSecurityContext.runAsUser=null",
        "podSecurityContext.runAsGroup=null",
        "podSecurityContext.fsGroup=null",
    )
    (deployment,) = of_kind(documents, "Deployment")
    args = deployment["spec"]["template"]["spec"]["containers"][0]["args"]
    (text,) = (word.partition("=")[2] for word in args if word.startswith("--broker-pods="))
    given = json.loads(text)
    assert given["imagePullSecrets"] == ["registry"]
    assert given["imagePullPolicy"] == "Always"
    assert not {"runAsUser", "runAsGroup", "fsGroup"} & given["securityContext"].keys()
    for spec in pod_specs(documents):
        assert spec["imagePullSecrets"] == [{"name": "registry"}]
        assert not {"runAsUser", "runAsGroup", "fsGroup"} & spec["securityContext"].keys()
        assert spec["securityContext"]["runAsNonRoot"] is True


@needs_helm
def test_an_uninstallation_is_refused_before_it_begins_and_finalizers_go_after_it() -> None:
    def jobs(*values: str) -> dict[str, Document]:
        documents = of_kind(render(*values), "Job")
        return {found["metadata"]["annotations"]["helm.sh/hook"]: found for found in documents}

    found = jobs()
    assert found.keys() == {"pre-delete", "post-delete"}
    args = found["pre-delete"]["spec"]["template"]["spec"]["containers"][0]["args"]
    assert args[:2] == ["uninstall", "--check"]
    assert jobs("uninstall.refuseWhileMoving=false").keys() == {"post-delete"}
    assert jobs("uninstall.removeFinalizers=false") == {}


@needs_helm
@pytest.mark.parametrize(
    "wrong", ["zookeeper.replicas=4", "operator.replicas=0", "unknown=1", "image.digest=sha256:1"]
)
def test_wrong_values_are_refused(wrong: str) -> None:
    with pytest.raises(subprocess.CalledProcessError) as refused:
        render(wrong)
    assert "schema" in refused.value.stderr
