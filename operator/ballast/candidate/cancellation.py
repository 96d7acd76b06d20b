"""Cancellation that a failing task group has swallowed.

When a task is cancelled while an `asyncio.TaskGroup` of its own is failing, Python before 3.13
raises the group's errors only. Who then catches these and goes on would never end.
"""

import asyncio


def end_if_cancelled() -> None:
    """Raise `asyncio.CancelledError` if the running task was asked to end.

    To be called by whoever goes on after the errors of a task group whose body ends by an
    exception only: where the body returns before a member fails, Python counts a cancellation that
    nobody asked for.
    """
    task = asyncio.current_task()
    if task is not None and task.cancelling():
        raise asyncio.CancelledError
