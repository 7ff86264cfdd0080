from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from support.processes import kill_guarded, start_guarded

RUN = """
import signal, sys, time
from support.processes import start_guarded
signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background job begins with SIGINT ignored
server = start_guarded([sys.executable, "-c", "import time; print('started', flush=True); time.sleep(600)"])
time.sleep(600)
"""


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGINT, signal.SIGTERM])
def test_a_server_ends_with_the_run_that_started_it_however_that_ended(how):
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[1])}
    with subprocess.Popen(  # noqa: S603  # this interpreter, and code of this file
        [sys.executable, "-c", RUN], env=environment, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    ) as run:
        assert run.stdout.readline() == b"started\n"
        run.send_signal(how)
        # The end of the output: nobody is left who could write to it, neither the run nor its server.
        assert run.stdout.read() == b""


def test_a_server_that_ends_by_itself_is_seen_to_have_ended():
    process = start_guarded([sys.executable, "-c", "raise SystemExit(3)"])
    assert process.wait() == 3
    process.stdin.close()


def test_a_server_is_killed_with_what_it_started():
    code = "import subprocess, sys; subprocess.run([sys.executable, '-c', 'print(1, flush=True); input()'])"
    process = start_guarded([sys.executable, "-c", code], stdout=subprocess.PIPE)
    with process.stdout:
        kill_guarded(process)
        assert process.stdout.read() in {b"", b"1\n"}
