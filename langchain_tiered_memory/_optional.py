"""Imports of libraries that only an extra installs, with an error that names the extra."""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence
    from types import ModuleType

__all__ = ["EXTRA_OF_LIBRARY", "import_optional", "require_optional"]

EXTRA_OF_LIBRARY = {
    "langchain": "agents",
    "langchain_openai": "openai",
    "matplotlib": "plots",
    "milvus_lite": "milvus",
    "numpy": "milvus",
    "psycopg": "postgres",
    "pymilvus": "milvus",
    "redis": "redis",
    "rich": "cli",
    "scipy": "plots",
    "snowballstemmer": "milvus",
    "typer": "cli",
    "wordllama": "local",
}
"""Which extra of this package installs a library, by the library's import name."""


def import_optional(module: str, *, needed_by: str) -> ModuleType:
    """Import a module that is, or that imports, a library of an extra.

    Exists so that whoever lacks an extra reads its name rather than a bare `No module named 'redis'`.

    Args:
        module: The absolute name of the module: a library, or a module of this package that imports one.
        needed_by: What the caller asked for, the first word of the error.

    Raises:
        ImportError: The library of an extra is missing; says how to install it.
        ModuleNotFoundError: Something else is missing.
    """
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        library = (error.name or "").partition(".")[0]
        extra = EXTRA_OF_LIBRARY.get(library)
        if extra is None:
            raise
        raise ImportError(_missing(needed_by, [library]), name=error.name) from error


def require_optional(libraries: Sequence[str], *, needed_by: str) -> None:
    """See that libraries of extras are there, without importing them.

    Exists for what is made now and used later: who lacks an extra should learn it before anything is written.

    Args:
        libraries: Their import names, of `EXTRA_OF_LIBRARY`.
        needed_by: As in `import_optional`.

    Raises:
        ImportError: Some are missing; says how to install all of them.
    """
    if missing := [library for library in libraries if find_spec(library) is None]:
        raise ImportError(_missing(needed_by, missing), name=missing[0])


def _missing(needed_by: str, libraries: Sequence[str]) -> str:
    extras = ",".join(dict.fromkeys(EXTRA_OF_LIBRARY[library] for library in libraries))
    absent = "which is not installed" if len(libraries) == 1 else "which are not installed"
    return (
        f"{needed_by} needs {' and '.join(libraries)}, {absent}. Run: pip install 'langchain-tiered-memory[{extras}]'"
    )
