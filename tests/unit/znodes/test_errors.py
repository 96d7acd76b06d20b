from ballast.znodes.errors import ZnodeError


def test_an_error_names_path_field_and_reason() -> None:
    error = ZnodeError("/controller", "brokerid", "Expected `int`, got `str`")
    assert str(error) == "/controller: brokerid: Expected `int`, got `str`"
    assert str(ZnodeError("/controller", "", "cut off")) == "/controller: document: cut off"
