"""The `tiered-memory` command."""

from __future__ import annotations

import logging
import sys
import warnings
from io import TextIOWrapper

from langchain_tiered_memory._optional import import_optional

__all__ = ["main"]

_FAILED, _USAGE_ERROR = 1, 2


def main() -> None:
    """Run the command; without the `[cli]` extra, say in one line what to install."""
    try:
        commands = import_optional("langchain_tiered_memory.cli.commands", needed_by="tiered-memory")
    except ImportError as error:
        sys.stderr.write(f"tiered-memory: {error}\n")
        sys.exit(_USAGE_ERROR)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="replace")  # a terminal that lacks a character shows "?", not a traceback
    warnings.formatwarning = lambda message, *_, **__: f"tiered-memory: warning: {message}\n"
    handler = logging.StreamHandler()
    handler.setFormatter(_OneLine())
    logging.basicConfig(level=logging.WARNING, handlers=[handler])
    try:
        commands.app(prog_name="tiered-memory")
    except OSError as error:  # stdout is full, or the like
        sys.stderr.write(f"tiered-memory: {error}\n")
        sys.exit(_FAILED)


class _OneLine(logging.Formatter):
    """Leaves out the traceback that a library logs beside its warning: the command says itself what it could not do."""

    def format(self, record: logging.LogRecord) -> str:
        """The warning in one line."""
        return f"tiered-memory: warning: {' '.join(record.getMessage().split())}"
