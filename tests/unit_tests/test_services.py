from __future__ import annotations

import socket
import socketserver
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING

import pytest

from support import services

if TYPE_CHECKING:
    from collections.abc import Iterator


def closed_port() -> int:
    """A port that nobody listens on: taken, and given back."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return taken.getsockname()[1]


class AnswersPing(socketserver.StreamRequestHandler):
    """As much of Redis' protocol as a client needs to be told PONG."""

    def handle(self) -> None:
        while line := self.rfile.readline():
            words = [self.rfile.readline() and self.rfile.readline() for _ in range(int(line[1:]))]
            self.wfile.write(b"+PONG\r\n" if words[0].strip().upper() == b"PING" else b"-ERR unknown\r\n")


@contextmanager
def redis_like() -> Iterator[int]:
    with socketserver.ThreadingTCPServer(("127.0.0.1", 0), AnswersPing) as server:
        server.daemon_threads = True
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield server.server_address[1]
        server.shutdown()
        thread.join()


FINDERS = [
    (services.postgres_url, services.POSTGRES_VARIABLE, "postgresql+psycopg://user:secret@127.0.0.1:{port}/db"),
    (services.redis_url, services.REDIS_VARIABLE, "redis://user:secret@127.0.0.1:{port}/0"),
]


@pytest.mark.parametrize(("find", "variable", "url"), FINDERS)
@pytest.mark.parametrize("required", ["", "0"])
def test_a_missing_service_is_skipped_with_a_reason_for_a_user(find, variable, url, required, monkeypatch):
    monkeypatch.setenv("REQUIRE_SERVICES", required)
    monkeypatch.setenv(variable, url.format(port=closed_port()))
    with pytest.raises(pytest.skip.Exception, match=variable) as skipped:
        find()
    assert "secret" not in str(skipped.value)


@pytest.mark.parametrize(("find", "variable", "url"), FINDERS)
def test_a_missing_service_fails_where_services_are_required(find, variable, url, monkeypatch):
    monkeypatch.setenv("REQUIRE_SERVICES", "1")
    monkeypatch.setenv(variable, url.format(port=closed_port()))
    with pytest.raises(pytest.fail.Exception, match=variable):
        find()


def test_a_service_that_answers_is_used(monkeypatch):
    with redis_like() as port:
        url = f"redis://127.0.0.1:{port}/0?protocol=2"  # without protocol 3's greeting
        monkeypatch.setenv(services.REDIS_VARIABLE, url)
        assert services.redis_url() == url
