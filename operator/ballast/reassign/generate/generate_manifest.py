"""``spec.plan.generate`` of a manifest: what is asked of a plan that is still to be made.

What the planner is told is kept as it was written: the planner checks it. What is read here is who
makes the plan, and how large a job may be.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from ballast.model.fields import Reader
from ballast.model.load_features import (
    AVERAGE,
    MAX_GROWTH_SECONDS,
    MIN_GROWTH_SECONDS,
    LoadFeatures,
)

MIN_DRIVER_MEMORY_BYTES = 512 * 1024 * 1024
MAX_DEADLINE_SECONDS = 86_400
MAX_ATTEMPTS = 10
MAX_EXECUTORS = 100
MIN_LOAD_WINDOW_SECONDS = 60
MAX_LOAD_WINDOW_SECONDS = 604_800
_BY_LOAD = "BytesInPerSecond"
_OF_THE_PLANNER = (
    *("strategy", "brokerIds", "replicationFactor", "topics", "seed"),
    *("maxReplicaMoves", "startIndex", "objective"),
)
_KNOWN = (*_OF_THE_PLANNER, "maxBytesToMove", "load", "engine", "spark")


class Engine(StrEnum):
    """``spec.plan.generate.engine``: what makes the plan."""

    AUTO = "Auto"
    """Spark for a cluster too large for the operator's memory, if there is one."""
    IN_PROCESS = "InProcess"
    SPARK = "Spark"


@dataclass(frozen=True, slots=True, kw_only=True)
class SparkJob:
    """``spec.plan.generate.spark``: all that a user may say about the job."""

    executors: int = 2
    driver_memory_bytes: int = 2 * 1024**3
    executor_memory_bytes: int = 2 * 1024**3
    deadline_seconds: int = 1800
    """A job that has not ended after so long is given up."""
    max_attempts: int = 3
    """So many jobs are begun before somebody has to look at it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadSelection:
    """``spec.plan.generate.load``: which part of the history of load counts."""

    window_seconds: int = 3600
    """From the snapshot back."""
    features: LoadFeatures = AVERAGE


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanToGenerate:
    """A plan that is still to be made."""

    strategy: str
    options: Mapping[str, Any] = field(default_factory=dict)
    """What the planner is told: ``spec.plan.generate`` without ``engine`` and ``spark``, quantities
    as numbers.
    """
    load: LoadSelection | None = None
    """None = the plan does not go by load."""
    engine: Engine = Engine.AUTO
    job: SparkJob = field(default_factory=SparkJob)


def read_generate(plan: Reader) -> PlanToGenerate | None:
    """Return what ``spec.plan.generate`` says, or None after noting what is wrong with it."""
    generate = plan.nested("generate", _KNOWN)
    strategy = generate.string("strategy", max_length=32, required=True)
    engine = generate.choice("engine", Engine.AUTO)
    size = generate.quantity("maxBytesToMove", minimum=0)
    load = _read_load(generate)
    job = _read_job(generate)
    if strategy is None:
        return None
    options = {name: generate.raw(name) for name in _OF_THE_PLANNER if generate.has(name)}
    if size is not None:
        options["maxBytesToMove"] = size
    return PlanToGenerate(
        strategy=strategy,
        options=options,
        load=load if options.get("objective") == _BY_LOAD else None,
        engine=engine,
        job=job,
    )


def _read_load(generate: Reader) -> LoadSelection:
    names = ("windowSeconds", "percentile", "byHourOfDay", "growthSeconds")
    load = generate.nested("load", names)
    usual = LoadSelection()
    return LoadSelection(
        window_seconds=load.integer(
            "windowSeconds",
            usual.window_seconds,
            minimum=MIN_LOAD_WINDOW_SECONDS,
            maximum=MAX_LOAD_WINDOW_SECONDS,
        ),
        features=LoadFeatures(
            percentile=load.integer("percentile", 0, minimum=1, maximum=100) or None,
            by_hour_of_day=load.boolean("byHourOfDay", False),
            growth_seconds=load.integer(
                "growthSeconds", 0, minimum=MIN_GROWTH_SECONDS, maximum=MAX_GROWTH_SECONDS
            )
            or None,
        ),
    )


def _read_job(generate: Reader) -> SparkJob:
    names = ("executors", "driverMemory", "executorMemory", "deadlineSeconds", "maxAttempts")
    spark = generate.nested("spark", names)
    usual = SparkJob()
    driver = spark.quantity("driverMemory", minimum=MIN_DRIVER_MEMORY_BYTES)
    executor = spark.quantity("executorMemory", minimum=MIN_DRIVER_MEMORY_BYTES)
    return SparkJob(
        executors=spark.integer("executors", usual.executors, minimum=1, maximum=MAX_EXECUTORS),
        driver_memory_bytes=usual.driver_memory_bytes if driver is None else driver,
        executor_memory_bytes=usual.executor_memory_bytes if executor is None else executor,
        deadline_seconds=spark.integer(
            "deadlineSeconds", usual.deadline_seconds, minimum=1, maximum=MAX_DEADLINE_SECONDS
        ),
        max_attempts=spark.integer(
            "maxAttempts", usual.max_attempts, minimum=1, maximum=MAX_ATTEMPTS
        ),
    )
