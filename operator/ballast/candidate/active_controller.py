"""What a request may use of an elected controller, and how it waits for brokers to follow."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from random import Random
from typing import Any

from ballast.controller.controller import Controller
from ballast.net.controller_channels import ControllerChannels
from ballast.protocol.schema import Message


@dataclass(frozen=True, slots=True, kw_only=True)
class ActiveController:
    """The controller of one leadership, and what goes with it."""

    controller: Controller
    channels: ControllerChannels
    random: Random


@dataclass(frozen=True, slots=True, kw_only=True)
class DeferredResponse:
    """An answer that waits until something is so, or its time is over."""

    timeout_s: float
    is_over: Callable[[], bool]
    """Asked after each event."""
    answer: Callable[[], Message]
    """Called when `is_over`, or when the time is; tells from the state of then."""


CandidateApi = Callable[[Any, int, ActiveController], Awaitable[Message | DeferredResponse]]
"""Answers one API, from request, version and controller.

`RequestRefused` becomes the response of `ballast.net.refusals.refuse`.
"""
