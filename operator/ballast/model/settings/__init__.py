"""The one table of settings: every property of a broker, a candidate or a topic, in Kafka's names.

A row (`keys.ConfigKey`, Kafka's ConfigDef.ConfigKey) has the name, type, default, validator, scope,
synonyms and documentation of a property, and whether a value other than the default is honoured,
harmless or refused. `validation` decides by the rows; `fields` makes typed configurations of them.
The answers of DescribeConfigs, the rules of AlterConfigs and of a BrokerSet's ``spec.config``, and
the reference page follow from the rows; no second list exists.

One module holds one group of properties, as in Kafka's KafkaConfig; `table` joins them. Not here:
reading files, ZooKeeper and requests.

A new property is one row, and one field where code reads its value (`fields.setting`).
"""
