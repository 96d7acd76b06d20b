"""The Kafka wire protocol as values and bytes: messages, frames, record batches, error codes.

Here lives what two processes must agree on byte for byte (reference: Apache Kafka 2.8.2). Nothing
here opens a socket, keeps state between calls, or knows what a request means.
"""
