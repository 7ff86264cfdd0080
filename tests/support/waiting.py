"""Waits for what happens elsewhere, without a claim on how long that takes."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

GIVE_UP_SECONDS = 300
PAUSE_SECONDS = 0.02


def wait_until(reached: Callable[[], object]) -> None:
    """Return once it holds. Only what never comes is an error, so that a busy machine is none."""
    give_up = time.monotonic() + GIVE_UP_SECONDS
    while not reached():
        if time.monotonic() > give_up:
            msg = f"not reached in {GIVE_UP_SECONDS} s"
            raise TimeoutError(msg)
        time.sleep(PAUSE_SECONDS)
