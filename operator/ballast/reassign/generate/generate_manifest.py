"""``spec.plan.generate`` of a manifest: the request for a plan that is still to be computed.

The planner's options are kept as written: the planner checks them. Read here: which engine computes
the plan, from which load, and how large a Spark job may be.
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
_PLANNER_OPTIONS = (
    *("strategy", "brokerIds", "replicationFactor", "topics", "seed"),
    *("maxReplicaMoves", "startIndex", "objective"),
)
_FIELDS = (*_PLANNER_OPTIONS, "maxBytesToMove", "load", "engine", "spark")


class Engine(StrEnum):
    """``spec.plan.generate.engine``: what computes the plan."""

    AUTO = "Auto"
    """Spark for a cluster too large for the operator's memory, if Spark is available."""
    IN_PROCESS = "InProcess"
    SPARK = "Spark"


@dataclass(frozen=True, slots=True, kw_only=True)
class SparkJob:
    """``spec.plan.generate.spark``: the user's settings of the job."""

    executors: int = 2
    driver_memory_bytes: int = 2 * 1024**3
    executor_memory_bytes: int = 2 * 1024**3
    deadline_seconds: int = 1800
    """A job that runs longer is deleted."""
    max_attempts: int = 3
    """Jobs that are started before the generation fails."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadSelection:
    """``spec.plan.generate.load``: the part of the load history that counts."""

    window_seconds: int = 3600
    """Length of the window that ends at the snapshot."""
    features: LoadFeatures = AVERAGE


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanToGenerate:
    """A plan that is still to be computed."""

    strategy: str
    options: Mapping[str, Any] = field(default_factory=dict)
    """The planner's options: ``spec.plan.generate`` without ``engine`` and ``spark``, quantities as
    numbers.
    """
    load: LoadSelection | None = None
    """None = the plan does not consider load."""
    engine: Engine = Engine.AUTO
    job: SparkJob = field(default_factory=SparkJob)


def read_generate(plan: Reader) -> PlanToGenerate | None:
    """Return what ``spec.plan.generate`` says, or None after noting what is wrong with it."""
    generate = plan.nested("generate", _FIELDS)
    strategy = generate.string("strategy", max_length=32, required=True)
    engine = generate.choice("engine", Engine.AUTO)
    size = generate.quantity("maxBytesToMove", minimum=0)
    load = _read_load(generate)
    job = _read_job(generate)
    if strategy is None:
        return None
    options = {name: generate.raw(name) for name in _PLANNER_OPTIONS if generate.has(name)}
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
    defaults = LoadSelection()
    return LoadSelection(
        window_seconds=load.integer(
            "windowSeconds",
            defaults.window_seconds,
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
    defaults = SparkJob()
    driver = spark.quantity("driverMemory", minimum=MIN_DRIVER_MEMORY_BYTES)
    executor = spark.quantity("executorMemory", minimum=MIN_DRIVER_MEMORY_BYTES)
    return SparkJob(
        executors=spark.integer("executors", defaults.executors, minimum=1, maximum=MAX_EXECUTORS),
        driver_memory_bytes=defaults.driver_memory_bytes if driver is None else driver,
        executor_memory_bytes=defaults.executor_memory_bytes if executor is None else executor,
        deadline_seconds=spark.integer(
            "deadlineSeconds", defaults.deadline_seconds, minimum=1, maximum=MAX_DEADLINE_SECONDS
        ),
        max_attempts=spark.integer(
            "maxAttempts", defaults.max_attempts, minimum=1, maximum=MAX_ATTEMPTS
        ),
    )
