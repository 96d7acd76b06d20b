"""One module per API that a candidate serves: from a decoded request to its response.

Here: what a request's fields mean and which error is put where, per version.
Not here: the controller's decisions, queues, sockets.
"""
