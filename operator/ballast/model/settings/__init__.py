"""The one table of settings: every property of a broker, a candidate or a topic, in Kafka's names.

A row (`keys.ConfigKey`, Kafka's ConfigDef.ConfigKey) says name, type, default, meaning, how a value
is read, and what becomes of a value that is not the default: it is honoured, or it changes nothing
that anybody can see, or it is refused. `judging` decides by the rows; there is no other list.

One module per group of properties, as Kafka's KafkaConfig groups them; `table` puts them together.
Pure values: files, ZooKeeper and requests are read elsewhere.
"""
