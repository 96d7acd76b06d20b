"""Access control lists: there are none, which is said as Kafka without an authorizer says it."""

import pytest

from ballast.protocol.error_codes import ErrorCode
from ballast.protocol.messages.admin.create_acls import AclCreation, CreateAclsRequest
from ballast.protocol.messages.admin.delete_acls import DeleteAclsFilter, DeleteAclsRequest
from ballast.protocol.messages.admin.describe_acls import DescribeAclsRequest
from tests.unit.broker.broker_cluster import Cluster, simulate


@pytest.mark.parametrize("version", [0, 1, 2])
def test_each_is_refused_because_security_is_disabled(version: int) -> None:
    async def main(cluster: Cluster) -> None:
        await cluster.start(1)
        described = await cluster.ask(1, DescribeAclsRequest(), version)
        assert described.error_code == ErrorCode.SECURITY_DISABLED
        assert described.error_message == "No Authorizer is configured on the broker"
        assert described.resources == ()
        creations = (AclCreation(resource_name="a"), AclCreation(resource_name="b"))
        created = await cluster.ask(1, CreateAclsRequest(creations=creations), version)
        assert [found.error_code for found in created.results] == [54, 54]
        filters = (DeleteAclsFilter(), DeleteAclsFilter(), DeleteAclsFilter())
        deleted = await cluster.ask(1, DeleteAclsRequest(filters=filters), version)
        assert [found.error_code for found in deleted.filter_results] == [54, 54, 54]
        assert not any(found.matching_acls for found in deleted.filter_results)

    simulate(main)
