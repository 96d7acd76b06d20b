"""One module per Kafka API that a broker serves: versions, behaviour, then the handler.

Here: the translation of one request into calls of the broker's components, and of their results
into one response. Not here: state of any kind, retries, knowledge of another API.
"""
