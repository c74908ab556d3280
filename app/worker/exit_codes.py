"""A worker's exit code as a sentence."""

from __future__ import annotations

OUT_OF_MEMORY = {-9, 137, 0xC0000017}
CRASHED = {-4, -6, -7, -8, -11, 132, 134, 139, 0xC0000005, 0xC0000409, 0xC00000FD}
ENDED_BY_SOMEONE = {-1, -2, -15, 130, 143, 0xC000013A}


def sentence_of(code: int | None) -> str:
    """What happened, in plain words; negative codes are signals, as multiprocessing gives them."""
    code = code if code is None or code >= -64 else code + 2**32
    if code in OUT_OF_MEMORY:
        return "The worker was stopped by the system, most likely out of memory."
    if code in CRASHED:
        return "The worker crashed inside a numerical library."
    if code in ENDED_BY_SOMEONE:
        return "The worker was ended by another program or by the system."
    return f"The worker ended unexpectedly (exit status {code})."
