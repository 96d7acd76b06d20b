import msgspec
import pytest

from ballast.model.load_features import AVERAGE, LoadFeatures

ALL = LoadFeatures(percentile=95, by_hour_of_day=True, growth_seconds=604_800)


@pytest.mark.parametrize(
    ("features", "text"),
    [
        (AVERAGE, b"{}"),
        (ALL, b'{"percentile":95,"byHourOfDay":true,"growthSeconds":604800}'),
    ],
)
def test_what_is_written_is_what_is_read(features: LoadFeatures, text: bytes) -> None:
    assert msgspec.json.encode(features) == text
    assert msgspec.json.decode(text, type=LoadFeatures) == features


@pytest.mark.parametrize(
    "text",
    [
        b'{"percentile":0}',
        b'{"percentile":101}',
        b'{"byHourOfDay":1}',
        b'{"growthSeconds":59}',
        b'{"growthSeconds":31536001}',
        b'{"median":true}',
    ],
)
def test_what_makes_no_sense_is_refused(text: bytes) -> None:
    with pytest.raises(msgspec.ValidationError):
        msgspec.json.decode(text, type=LoadFeatures)
