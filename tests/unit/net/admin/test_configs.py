"""Configs as a client writes and reads them."""

from ballast.net.admin.configs import TOPIC, TOPIC_CONFIG, changes_of, describe_request, set_values
from ballast.protocol.messages.admin.describe_configs import (
    DescribeConfigsResourceResult,
    DescribeConfigsResult,
)


def test_a_request_names_its_keys_in_order() -> None:
    request = describe_request(TOPIC, ["x", "y"], {"b", "a"})

    assert [resource.resource_name for resource in request.resources] == ["x", "y"]
    assert all(resource.configuration_keys == ("a", "b") for resource in request.resources)


def test_only_what_is_set_there_and_shown_counts() -> None:
    result = DescribeConfigsResult(
        configs=(
            DescribeConfigsResourceResult(name="a", value="1", config_source=TOPIC_CONFIG),
            DescribeConfigsResourceResult(name="secret", value=None, config_source=TOPIC_CONFIG),
            DescribeConfigsResourceResult(name="default", value="1", config_source=5),
        )
    )

    assert set_values(result, TOPIC_CONFIG) == {"a": "1"}


def test_none_deletes() -> None:
    resource = changes_of(TOPIC, "t", {"b": None, "a": ""})

    assert [(c.name, c.config_operation, c.value) for c in resource.configs] == [
        ("a", 0, ""),
        ("b", 1, None),
    ]
