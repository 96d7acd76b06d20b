import pytest

from ballast.protocol.api_keys import APIS
from ballast.protocol.messages.cluster.api_versions import ApiVersionsRequest
from tests.unit.broker.broker_cluster import Cluster, simulate

NAMED = ApiVersionsRequest(client_software_name="test", client_software_version="1.0-x")


@pytest.mark.parametrize("version", [0, 1, 2, 3])
def test_every_key_from_version_0(version: int) -> None:
    async def main(cluster: Cluster) -> None:
        await cluster.start(1)
        answer = await cluster.ask(1, NAMED, version)
        assert answer.error_code == 0
        assert [(k.api_key, k.min_version, k.max_version) for k in answer.api_keys] == [
            (key, 0, APIS[key].max_version) for key in sorted(APIS)
        ]

    simulate(main)


@pytest.mark.parametrize("name", ["", "a b", "-a", "a\n", "{{x}}"])
def test_software_names_have_a_grammar(name: str) -> None:
    async def main(cluster: Cluster) -> None:
        await cluster.start(1)
        request = ApiVersionsRequest(client_software_name=name, client_software_version="1")
        assert (await cluster.ask(1, request, 3)).error_code == 42

    simulate(main)
