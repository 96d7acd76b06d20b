"""The specification of a BrokerSet as typed values, and how manifests are parsed into them.

What a user may write belongs here, and the errors that name the field. What is made of it for
Kubernetes is in `children`, what is done about it in `steps`.
"""
