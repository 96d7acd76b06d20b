"""A member of a ZooKeeper ensemble that only grows through the quorum that has the data.

ZooKeeper with a list of servers in its configuration lets any majority of that list elect a leader.
When the list grows from one server to three, the two new, empty ones are a majority, and the data
of the old one is overwritten. Here the list is a part of ZooKeeper's data (dynamic reconfiguration,
ZOOKEEPER-107): every change of it is committed by the present quorum.

- `settings`: ZooKeeper's configuration as text, and the addresses of the members.
- `decisions`: what a member does next, and how the leader's member changes the ensemble; no I/O.
- `folder`: what is on the member's disk.
- `asking`: what the other members say.
- `metrics`: what the local server shows to Prometheus.
- `member`: the process that runs the server and does all this.
"""
