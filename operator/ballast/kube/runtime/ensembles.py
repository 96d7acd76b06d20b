"""Asks the ZooKeeper ensemble of a BrokerSet which cluster it holds, at bounded intervals."""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Final

from ballast.brokersets.spec.spec import BrokerSetSpec
from ballast.brokersets.steps.ensemble import EnsembleAnswer
from ballast.reassign.ports import Clock
from ballast.zk import ensembles
from ballast.zk.client import ClientFactory
from ballast.zk.ensembles import Ensemble
from ballast.zk.errors import ZooKeeperError
from ballast.znodes.errors import ZnodeError
from ballast.znodes.owner import Owner

log = logging.getLogger(__name__)

ASK_S: Final = 8.0
"""The timeout of one attempt."""
PERIOD_S: Final = 10.0
"""Between two attempts."""
OUTDATED_S: Final = 1.0
"""Between two attempts while the last answer has no cluster but brokers answer: they have created
one since."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """The facts that decide whether a path may be claimed for a set."""

    connect_string: str
    session_timeout_s: float
    claimant: Owner
    is_new: bool
    """The set has neither brokers nor volumes: topics under the path are not its own."""
    is_bound: bool
    """The set has a cluster, and this may be another one: nothing is written."""

    def may_take(self, ensemble: Ensemble) -> bool:
        """Whether what is there may become the claimant's, if no set of another name has it."""
        return not self.is_bound and not (self.is_new and ensemble.has_topics)


AskEnsemble = Callable[[Question], Awaitable[EnsembleAnswer]]


async def ask_nobody(question: Question) -> EnsembleAnswer:
    """Return an answer that no ensemble was asked."""
    return EnsembleAnswer(error=f"{question.connect_string} is not asked")


@dataclass(frozen=True, slots=True, kw_only=True)
class EnsembleAsker:
    """Implements `AskEnsemble` with sessions of its own."""

    zookeeper_for: Callable[[str, float], ClientFactory]

    async def __call__(self, question: Question) -> EnsembleAnswer:
        """Return what the path holds; raises nothing but CancelledError."""
        where = question.connect_string
        try:
            factory = self.zookeeper_for(where, question.session_timeout_s)
            async with asyncio.timeout(ASK_S):
                return await _ask(factory, question)
        except (ZooKeeperError, TimeoutError, OSError) as error:
            detail = f": {error}" if str(error) else ""
            return EnsembleAnswer(error=f"{where} does not answer{detail}")
        except (ZnodeError, ValueError) as error:
            return EnsembleAnswer(error=f"{where} cannot be read: {error}")


async def _ask(factory: ClientFactory, question: Question) -> EnsembleAnswer:
    client, claimant = factory(), question.claimant
    try:
        await client.start()
        ensemble = await ensembles.look(client)
        owner = ensemble.owner
        if owner is None and question.may_take(ensemble):
            owner = await ensembles.claim(client, claimant)
        elif owner is not None and owner.is_namesake(claimant) and owner != claimant:
            if question.may_take(ensemble):
                await ensembles.inherit(client, claimant)
            owner = claimant
    finally:
        await client.close()
    is_other = owner is not None and not owner.is_namesake(claimant)
    return EnsembleAnswer(
        cluster_id=ensemble.cluster_id,
        other_owner=f"{owner.namespace}/{owner.name}" if owner and is_other else None,
        has_topics=ensemble.has_topics,
    )


class PacedAsker:
    """Asks for one set; an answer is valid for `PERIOD_S`."""

    def __init__(self, ask: AskEnsemble, clock: Clock) -> None:
        self._ask = ask
        self._clock = clock
        self._asked: Question | None = None
        self._asked_at = 0.0
        self._answer = EnsembleAnswer()

    async def answer(
        self, spec: BrokerSetSpec, *, is_new: bool, is_bound: bool, brokers_answer: bool = False
    ) -> EnsembleAnswer:
        """Return what the ensemble of the spec holds, at most `PERIOD_S` old.

        ``brokers_answer`` means that a cluster exists: its ensemble must be known before a user
        names another one.
        """
        zookeeper, identity = spec.zookeeper, spec.identity
        assert zookeeper is not None, "only a managed set has an ensemble"
        question = Question(
            connect_string=zookeeper.connect_string,
            session_timeout_s=float(zookeeper.session_timeout_seconds),
            claimant=Owner(namespace=identity.namespace, name=identity.name, uid=identity.uid),
            is_new=is_new,
            is_bound=is_bound,
        )
        knows_none = self._answer.error is None and self._answer.cluster_id is None
        period_s = OUTDATED_S if knows_none and brokers_answer else PERIOD_S
        if question != self._asked or self._clock.now() >= self._asked_at + period_s:
            self._answer = await self._ask(question)
            self._asked, self._asked_at = question, self._clock.now()
            if self._answer.error is not None:
                log.info("%s", self._answer.error)
        return self._answer
