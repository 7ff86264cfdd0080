"""Servers for tests that end with the test run that started them, even with one that is interrupted or killed."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from contextlib import suppress
from typing import Any

_GUARD = """
import os, signal, subprocess, sys, threading
guarded = subprocess.Popen(sys.argv[1:], stdin=subprocess.DEVNULL)
threading.Thread(target=lambda: os._exit(guarded.wait() & 255), daemon=True).start()
sys.stdin.buffer.read()
os.killpg(0, signal.SIGKILL)
"""
"""Reads from a pipe that only the test run holds: when it ends, however it ended, the pipe does, and the group goes."""


def start_guarded(command: list[str], **options: Any) -> subprocess.Popen[bytes]:
    """Start a program in a process group of its own, under a guard that kills the group when this process is gone.

    Args:
        command: The program and its arguments.
        options: What `subprocess.Popen` takes, except stdin.
    """
    guard = [sys.executable, "-I", "-S", "-c", _GUARD, *command]
    return subprocess.Popen(guard, stdin=subprocess.PIPE, start_new_session=True, **options)  # noqa: S603  # a test's own


def kill_guarded(process: subprocess.Popen[bytes]) -> None:
    """Kill a guarded program without a warning, with all that it started."""
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    process.stdin.close()
