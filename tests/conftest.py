"""What every test can rely on: the shared data, the vocabularies, and services that are there or say why not."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING
from uuid import uuid4

import pytest

from support import services, vocabulary
from support.profiles import register_profiles
from support.shared import DATA, PROJECT, use_shared_vocabularies

if TYPE_CHECKING:
    from support.milvus_server import MilvusServer

register_profiles()

# Before any test, or any module of tests, asks for a vocabulary.
use_shared_vocabularies()


@pytest.hookimpl(tryfirst=True)  # before pytest-xdist reads its groups
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Keep the unit tests off the network, and let one process have all tests that share a costly server."""
    unit_tests = PROJECT / "tests" / "unit_tests"
    for item in items:
        if item.path.is_relative_to(unit_tests):
            item.add_marker(pytest.mark.allow_hosts(["127.0.0.1", "::1"]))
        if "milvus_server" in getattr(item, "fixturenames", ()):
            item.add_marker(pytest.mark.xdist_group("milvus_server"))


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Skip a test marked `needs_vocabulary` where that vocabulary cannot be had without a network."""
    for marker in item.iter_markers("needs_vocabulary"):
        for name in marker.args or (vocabulary.DEFAULT,):
            if not vocabulary.is_local(name):
                pytest.skip(vocabulary.missing(name))


@pytest.fixture(scope="session")
def project_root() -> Path:
    """The folder that holds pyproject.toml."""
    return PROJECT


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """Data sets that may not be copied into the repository; never required, so skipped even in CI."""
    if not DATA.is_dir():
        pytest.skip(f"no data sets at {DATA}; TIERED_MEMORY_SHARED names the folder that holds data/")
    return DATA


@pytest.fixture(scope="session")
def postgres_url() -> str:
    """A PostgreSQL database that answers."""
    return services.postgres_url()


@pytest.fixture(scope="session")
def redis_url() -> str:
    """A Redis server that answers."""
    return services.redis_url()


@pytest.fixture
def redis_prefix(redis_url: str) -> Iterator[str]:
    """What the keys of a test begin with, on a server that others use too; nothing is left of it."""
    prefix = f"test-{uuid4().hex}"
    yield prefix
    with services.redis_client(redis_url) as client:
        for key in client.scan_iter(f"{prefix}*"):
            client.delete(key)


@pytest.fixture(scope="session")
def milvus_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[MilvusServer]:
    """A real Milvus server, shared by all tests of a run; whoever wants to kill one starts one of their own."""
    from support import milvus_server  # noqa: PLC0415  # there is none for Windows, and no fcntl either

    with milvus_server.running(tmp_path_factory.mktemp("milvus")) as server:
        yield server


@pytest.fixture
def milvus_lite_uri(tmp_path: Path) -> str:
    """A file of its own for an embedded Milvus Lite."""
    return services.milvus_lite_uri(tmp_path)
