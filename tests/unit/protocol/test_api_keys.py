import pytest

from ballast.protocol.api_keys import APIS, ApiKey

# Kafka 2.8.2: key, last version, first flexible version.
TABLE = """
0 9 9 | 1 12 12 | 2 6 6 | 3 11 9 | 4 5 4 | 5 3 2 | 6 7 6 | 7 3 3 | 8 8 8 | 9 7 6 | 10 3 3
| 11 7 6 | 12 4 4 | 13 4 4 | 14 5 4 | 15 5 5 | 16 4 3 | 18 3 3 | 19 7 5
| 20 6 4 | 21 2 2 | 22 4 2 | 23 4 4 | 29 2 2 | 30 2 2 | 31 2 2
| 32 4 4 | 33 2 2 | 34 2 2 | 35 2 2 | 37 3 2 | 42 2 2 | 43 2 2
| 44 1 1 | 45 0 0 | 46 0 0 | 47 0 1 | 60 0 0
"""


def test_versions_are_those_of_2_8() -> None:
    expected = {tuple(map(int, row.split())) for row in TABLE.split("|")}
    assert {(key, api.max_version, api.flexible_from) for key, api in APIS.items()} == expected
    assert {api.min_version for api in APIS.values()} == {0}


@pytest.mark.parametrize("key", ApiKey, ids=lambda key: key.name)
def test_both_classes_belong_to_the_key(key: ApiKey) -> None:
    request, response = APIS[key].request, APIS[key].response
    assert request.API_KEY == response.API_KEY == key
    assert request.VERSIONS == response.VERSIONS
    assert request.FLEXIBLE_FROM == response.FLEXIBLE_FROM
    assert request.__name__.removesuffix("Request") == response.__name__.removesuffix("Response")
    assert request.__name__.removesuffix("Request").upper() == key.name.replace("_", "")
