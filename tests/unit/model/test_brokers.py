from ballast.model.brokers import Endpoint, RegisteredBroker


def test_first_endpoint_is_for_brokers() -> None:
    first, second = Endpoint(host="a", port=1), Endpoint(host="b", port=2, listener_name="OUT")
    assert RegisteredBroker(broker_id=1, endpoints=(first, second)).endpoint == first
