import pytest

from ballast.model.load_features import LoadFeatures
from ballast.reassign.generate.job_load import JobLoad, JobLoadRejected

LOAD = JobLoad(
    bootstrap_servers="prod:9092",
    partitions=4,
    since_ms=1,
    until_ms=2,
    features=LoadFeatures(percentile=95, by_hour_of_day=True, growth_seconds=60),
)


def test_what_is_told_is_what_is_read() -> None:
    assert LOAD.encode() == (
        '{"bootstrapServers":"prod:9092","partitions":4,"sinceMs":1,"untilMs":2,'
        '"features":{"percentile":95,"byHourOfDay":true,"growthSeconds":60}}'
    )
    assert JobLoad.decode(LOAD.encode()) == LOAD


@pytest.mark.parametrize(
    ("was", "becomes", "reason"),
    [
        ('"partitions":4', '"partitions":0', "partitions"),
        ('"percentile":95', '"percentile":101', "percentile"),
        ('"byHourOfDay":true', '"byHourOfDay":1', "byHourOfDay"),
        ('"growthSeconds":60', '"growthSeconds":59', "growthSeconds"),
        ('"sinceMs":1', '"sinceMs":-1', "sinceMs"),
        ('"prod:9092"', '""', "bootstrapServers"),
        ("{", '{"user":"u",', "user"),
        ("}", "", "truncated"),
    ],
)
def test_what_makes_no_sense_is_refused(was: str, becomes: str, reason: str) -> None:
    with pytest.raises(JobLoadRejected, match=reason):
        JobLoad.decode(LOAD.encode().replace(was, becomes, 1))
