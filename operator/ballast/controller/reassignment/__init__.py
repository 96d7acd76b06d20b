"""Reassignment in the controller: onPartitionReassignment with its phases, and its requests.

`reassignment` carries A1 to B8 of article 002 beside its calls.
"""
