"""Operations that wait for a condition or a deadline (Kafka's purgatories), and the timing wheel.

Here: the wheel, the contract of a delayed operation, the watchers. Not here: what is waited for
(the broker's operations implement `operation.DelayedOperation`), threads, timers, clocks: the
shell arms one timer for `purgatory.Purgatory.next_expiry` and calls ``advance`` when it fires.
"""
