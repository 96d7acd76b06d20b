"""One module per API: its request, its response and their nested structs, nothing else.

Fields carry Kafka's names in snake_case, in the order of the wire; one class serves all versions.
`ballast.protocol.api_keys` is the table that binds these classes to keys and versions.
"""
