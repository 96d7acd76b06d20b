"""Where replicas should go: pure functions from a snapshot of the cluster to target assignments.

No I/O, no clock, and no random numbers but a hash of a seed: the same snapshot, options and seed
give the same plan, on every machine. The way of a plan (`plan.plan_targets`):

1. `snapshot` reads the cluster into `ClusterColumns`: one row of broker indices per partition.
2. `PlanOptions` names the strategy; `ClusterView` is the cluster under these options.
3. `problem.strategies` makes a `PlacementProblem`: which replicas are unassigned or movable, which
   brokers may receive replicas, and how many replicas each broker holds at least and at most.
4. `problem.targets` computes `BalanceTargets`: replicas and bytes that each broker is to end with.
5. `placement.optimize` selects replicas, assigns them to brokers with a deficit and improves the
   result. It returns the new rows. `problem.move_limits` drops changes beyond the user's limits.
6. `leaders` makes a `LeaderProblem` of the new rows and reorders replicas: no data moves.
7. `explain` describes the result (`Target`): its changes, its cost and the balance it reaches.

A large cluster is cut into blocks (`sharding`). Every block is summarised (`BlockSummary`), the sum
of all summaries gives each block a `BlockQuota`, and steps 3 to 6 run per block with its quota as
the targets: in this process, or on Spark (`ballast.spark`).
"""
