"""A real Milvus server, from the wheel `milvus` (2.3.5, the last one that is a wheel), on ports of its own.

The wheel wants an old setuptools, so it lives in an environment of its own, which is built once on a machine and kept
in the folder for temporary files. A server takes about ten seconds to start.
"""

from __future__ import annotations

import fcntl
import os
import random
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from support.processes import kill_guarded, start_guarded
from support.services import unavailable

if TYPE_CHECKING:
    from collections.abc import Iterator

VERSION = "2.3.5"
REQUIREMENTS = (f"milvus=={VERSION}", "setuptools<80")
PORTS = (
    "proxy",
    "proxy-internal",
    "etcd",
    "root-coord",
    "query-coord",
    "query-node",
    "index-coord",
    "index-node",
    "data-coord",
    "data-node",
)
"""What has an option. The metrics look for a port themselves, and etcd's peers are told theirs by a file."""
ETCD = """
name: default
listen-client-urls: http://127.0.0.1:{client}
advertise-client-urls: http://127.0.0.1:{client}
listen-peer-urls: http://127.0.0.1:{peer}
initial-advertise-peer-urls: http://127.0.0.1:{peer}
initial-cluster: default=http://127.0.0.1:{peer}
"""
PORT_RANGE = range(20_000, 32_000)
START_SECONDS = 180
INSTALL_SECONDS = 600


class MilvusServer:
    """One server, which may be killed and started again on the data and at the address that it had."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._ports = dict(zip((*PORTS, "etcd-peer"), free_ports(len(PORTS) + 1), strict=True))
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def uri(self) -> str:
        return f"http://127.0.0.1:{self._ports['proxy']}"

    def start(self) -> None:
        """Start it, and wait until it answers."""
        give_up = time.monotonic() + START_SECONDS
        while not self._answers():
            if time.monotonic() > give_up:
                self.kill()
                unavailable(f"the Milvus server did not start, see {self.folder / 'logs'}")
            if self._process is None or self._has_died():
                self.kill()
                self._spawn()
            time.sleep(1)

    def _spawn(self) -> None:
        """Start the wheel's program; once that has unpacked and configured the server, the server itself.

        The program looks whether the ports are free, and for a minute after a server was killed its connections hold
        them. The server does not mind.
        """
        binary = self.folder / "bin" / "milvus"
        etcd = self.folder / "etcd.yaml"
        environ = {**os.environ, "ETCD_CONFIG_PATH": str(etcd)}
        if (self.folder / "data" / "etcd.data").exists():
            command = [str(binary), "run", "standalone"]
            environ |= {"DEPLOY_MODE": "STANDALONE", "METRICS_PORT": str(free_ports(1)[0])}
            environ |= {"MILVUS_RUN_DIR": str(self.folder / "run"), "LD_LIBRARY_PATH": str(binary.parent)}
        else:
            options = [word for name in PORTS for word in (f"--{name}-port", str(self._ports[name]))]
            command = [str(environment() / "bin" / "milvus-server"), "--data", str(self.folder), *options]
            (self.folder / "logs").mkdir(parents=True, exist_ok=True)
            etcd.write_text(ETCD.format(client=self._ports["etcd"], peer=self._ports["etcd-peer"]))
        with (self.folder / "logs" / "milvus-stderr.log").open("wb") as log:
            self._process = start_guarded(command, stdout=log, stderr=log, cwd=self.folder, env=environ)

    def _has_died(self) -> bool:
        """Whether it will never answer; what started the real server does not notice that it is gone."""
        said = self.folder / "logs" / "milvus-stderr.log"
        return self._process.poll() is not None or (said.is_file() and "panic:" in said.read_text(errors="replace"))

    def _answers(self) -> bool:
        with socket.socket() as probe:
            probe.settimeout(1)
            if probe.connect_ex(("127.0.0.1", self._ports["proxy"])):
                return False
        asked = subprocess.run(  # noqa: S603  # our own code
            [sys.executable, "-c", ASK, self.uri], check=False, capture_output=True, timeout=60
        )
        return asked.returncode == 0

    def kill(self) -> None:
        """Kill it without a warning."""
        if self._process is not None:
            kill_guarded(self._process)
            self._process = None


ASK = """
import sys, pymilvus
client = pymilvus.MilvusClient(sys.argv[1], timeout=5)
client.has_collection("none", timeout=5)
"""
"""In a process of its own, so that no connection to a server that is not ready yet is kept."""


@contextmanager
def running(folder: Path) -> Iterator[MilvusServer]:
    """A server that runs as long as this."""
    server = MilvusServer(folder)
    server.start()
    try:
        yield server
    finally:
        server.kill()


def free_ports(count: int) -> list[int]:
    """Ports that nobody listens on, all taken at the same time so that they differ.

    From below those that the system gives to outgoing connections, one of which might take the port of a server that is
    being started again.
    """
    with ExitStack() as stack:
        ports: list[int] = []
        for port in random.sample(PORT_RANGE, len(PORT_RANGE)):
            one = stack.enter_context(socket.socket())
            with suppress(OSError):
                one.bind(("127.0.0.1", port))
                ports.append(port)
            if len(ports) == count:
                break
    return ports


def environment() -> Path:
    """The environment that the server is installed in, built if it is not there."""
    folder = Path(tempfile.gettempdir()) / f"tiered-memory-milvus-{VERSION}-{os.getuid()}"
    complete = folder / "complete"
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # of several test runs one builds
        if not complete.exists():
            _build(folder / "venv")
            complete.touch()
    return folder / "venv"


def _build(venv: Path) -> None:
    shutil.rmtree(venv, ignore_errors=True)
    uv = shutil.which("uv", path=f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', '')}")
    python = venv / "bin" / "python"
    if uv is None:
        commands = [
            [sys.executable, "-m", "venv", str(venv)],
            [str(python), "-m", "pip", "install", "--quiet", *REQUIREMENTS],
        ]
    else:
        commands = [
            [uv, "venv", "--quiet", "--python", sys.executable, str(venv)],
            [uv, "pip", "install", "--quiet", "--python", str(python), *REQUIREMENTS],
        ]
    for command in commands:
        try:
            subprocess.run(command, check=True, capture_output=True, timeout=INSTALL_SECONDS)  # noqa: S603  # our own
        except (OSError, subprocess.SubprocessError) as error:
            said = getattr(error, "stderr", None) or b""
            unavailable(f"the Milvus server cannot be installed ({' '.join(command[:4])} ...): {error} {said[-300:]!r}")
