"""An answer that waits is a value."""

from ballast.candidate.active_controller import DeferredResponse
from ballast.protocol.messages.control.update_metadata import UpdateMetadataResponse


def test_what_is_waited_for_is_asked_anew_each_time() -> None:
    known: list[int] = []
    waiting = DeferredResponse(
        timeout_s=1,
        is_over=lambda: len(known) == 2,
        answer=lambda: UpdateMetadataResponse(error_code=len(known)),
    )

    assert not waiting.is_over()
    known += [1, 2]
    assert waiting.is_over()
    assert waiting.answer() == UpdateMetadataResponse(error_code=2)
