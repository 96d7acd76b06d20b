"""A log behaves like a list of batches, whatever is done to it in whatever order."""

from random import Random

from hypothesis import given, settings
from hypothesis import strategies as st

from ballast.storage.log.config import LogConfig
from tests.unit.storage.samples import (
    append,
    batch,
    contents,
    new_disk,
    reopened,
)

SMALL = LogConfig(segment_bytes=400, index_interval_bytes=100)


OPERATIONS = st.lists(
    st.one_of(
        st.tuples(st.just("append"), st.integers(1, 4)),
        st.tuples(st.just("follow"), st.integers(1, 3)),
        st.tuples(st.just("truncate"), st.integers(0, 60)),
        st.tuples(st.just("flush"), st.just(0)),
        st.tuples(st.just("reopen"), st.integers(0, 2)),
        st.tuples(st.just("start"), st.integers(0, 60)),
    ),
    max_size=30,
)


@settings(max_examples=60, deadline=None)
@given(operations=OPERATIONS, seed=st.integers(0, 1000))
def test_a_log_behaves_like_a_list_of_batches(operations: list[tuple[str, int]], seed: int) -> None:
    disk = new_disk(seed)
    log = reopened(disk, config=SMALL)
    model: list[tuple[int, int]] = []
    flushed = start = 0
    for operation, number in operations:
        end = model[-1][1] if model else log.log_end_offset
        if operation == "append":
            append(log, batch(number, size=Random(seed).randint(0, 60)), epoch=1)
            model.append((end, end + number))
        elif operation == "follow":
            log.append_as_follower(batch(number, base_offset=end, leader_epoch=1))
            model.append((end, end + number))
        elif operation == "truncate":
            log.truncate_to(number)
            model = [one for one in model if one[1] <= number]
            flushed = min(flushed, log.log_end_offset)
            start = min(start, log.log_start_offset)
        elif operation == "start" and number <= log.log_end_offset:
            log.raise_log_start_offset(number)
            start = log.log_start_offset
            model = [one for one in model if one[1] > start]
        elif operation == "flush":
            log.flush()
            flushed = log.recovery_point
        elif operation == "reopen":
            log.close(clean=number == 0)
            if number == 2:
                disk.crash(keep_page_cache=True)
            log = reopened(
                disk,
                config=SMALL,
                clean=number == 0,
                recovery_point=flushed,
                log_start_offset=start,
            )
        stored = [(base, base) for base, _ in contents(log, max(start, log.log_start_offset))]
        assert [base for base, _ in stored] == [base for base, _ in model]
        if model:
            assert log.log_end_offset == model[-1][1]
