"""The elected controller as requests use it, and responses that are deferred."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from random import Random
from typing import Any

from ballast.controller.controller import Controller
from ballast.net.controller_channels import ControllerChannels
from ballast.protocol.schema import Message


@dataclass(frozen=True, slots=True, kw_only=True)
class ActiveController:
    """The controller of one term, with its channels and its random numbers."""

    controller: Controller
    channels: ControllerChannels
    random: Random


@dataclass(frozen=True, slots=True, kw_only=True)
class DeferredResponse:
    """A response that is sent when a condition holds, or on timeout."""

    timeout_s: float
    is_over: Callable[[], bool]
    """Called after each event."""
    answer: Callable[[], Message]
    """Called when `is_over` returns true, or on timeout, to build the response."""


CandidateApi = Callable[[Any, int, ActiveController], Awaitable[Message | DeferredResponse]]
"""Answers one API, from request, version and controller.

`RequestRefused` becomes the response of `ballast.net.refusals.refuse`.
"""
